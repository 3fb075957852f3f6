// Starts Swagger UI with the description of the service that serves this page.

const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

const response = await fetch("openapi.json");
const description = await response.json();
const here = new URL("../v1", document.baseURI).href;
const elsewhere = description.servers.filter(({ url }) => new URL(url, here).href !== here);
// This service comes first, so that nobody sends a key to another environment by mistake.
description.servers = [{ url: here, description: "This service" }, ...elsewhere];

globalThis.SwaggerUIBundle({
  spec: description,
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // The key is not stored: it is lost when the page is closed.
  persistAuthorization: false,
  validatorUrl: null,
  plugins: [{ wrapComponents: { responseBody: withExactIntegers } }],
});

/** Shows a response body with exact integers. Swagger UI itself rounds integers beyond 2^53. */
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

/** Indents JSON text and keeps all digits of its numbers. Returns `undefined` if the text is not JSON. */
function exactJson(text) {
  const asWritten = (_name, value, { source }) =>
    typeof value === "number" ? JSON.rawJSON(source) : value;
  try {
    return JSON.stringify(JSON.parse(text, asWritten), null, 2);
  } catch {
    return undefined;
  }
}
