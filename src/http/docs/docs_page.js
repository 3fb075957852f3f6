// Starts Swagger UI on the description of the very service that this page comes from.

const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

const response = await fetch("openapi.json");
const description = await response.json();
const here = new URL("../v1", document.baseURI).href;
const elsewhere = description.servers.filter(({ url }) => new URL(url, here).href !== here);
// A key of one environment is not to be tried on another by oversight: this one comes first.
description.servers = [{ url: here, description: "This service" }, ...elsewhere];

globalThis.SwaggerUIBundle({
  spec: description,
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // The key is kept nowhere: it is gone when the page is.
  persistAuthorization: false,
  validatorUrl: null,
  plugins: [{ wrapComponents: { responseBody: withExactIntegers } }],
});

/** Swagger UI shows a body as JavaScript reads it, which spoils integers beyond 2^53. */
function withExactIntegers(Original, { React, getComponent }) {
  const { createElement } = React;
  return (props) => {
    const text = exactJson(props.content);
    if (text === undefined) return createElement(Original, props);
    const code = { language: "json", downloadable: true, canCopy: true, fileName: "response.json" };
    return createElement(
      "div",
      {},
      createElement("h5", {}, "Response body"),
      createElement(getComponent("HighlightCode", true), code, text),
    );
  };
}

/** JSON text set out for people, every number as it was written; `undefined` where it is no JSON. */
function exactJson(text) {
  const asWritten = (_name, value, { source }) =>
    typeof value === "number" ? JSON.rawJSON(source) : value;
  try {
    return JSON.stringify(JSON.parse(text, asWritten), null, 2);
  } catch {
    return undefined;
  }
}
