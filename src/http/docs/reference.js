// Starts Scalar with the description of the service that serves this page.

const { nonce } = document.currentScript;

// Scalar keeps the API key and its other settings in localStorage. They must not outlive the session.
Object.defineProperty(globalThis, "localStorage", { value: sessionStorage });

// The policy of the page accepts only style elements with its nonce.
const { createElement } = Document.prototype;
Document.prototype.createElement = function (...options) {
  const element = createElement.apply(this, options);
  if (element instanceof HTMLStyleElement) element.nonce = nonce;
  return element;
};

// A key is often pasted with its scheme. This listener runs before that of the field.
addEventListener("input", ({ target }) => {
  if (!target.matches(".scalar-password-input")) return;
  const key = target.value.replace(/^\s*(authorization:\s*)?(bearer\s+)?/i, "").trimEnd();
  if (key !== target.value) target.value = key;
}, { capture: true });

addEventListener("DOMContentLoaded", async () => {
  const response = await fetch("openapi.json");
  const description = await response.json();
  const here = new URL("../v1", document.baseURI).href;
  const elsewhere = description.servers.filter(({ url }) => new URL(url, here).href !== here);
  // This service comes first, so that nobody sends a key to another environment by mistake.
  description.servers = [{ url: here, description: "This service" }, ...elsewhere];

  // The guides are pages of their own. They follow the operations in the side bar and in the search.
  const guides = Array.from(
    document.querySelectorAll("#guides a"),
    ({ href, textContent, title }) => ({
      name: textContent,
      description: `${title}. [Read the guide](${href})`,
      href,
    }),
  );
  const namesOf = (tags) => tags.map(({ name }) => name);
  description["x-tagGroups"] = [
    { name: "Operations", tags: namesOf(description.tags) },
    { name: "Guides", tags: namesOf(guides) },
  ];
  description.tags.push(...guides.map(({ name, description }) => ({ name, description })));

  globalThis.Scalar.createApiReference("#reference", {
    content: description,
    // Nothing comes from other hosts, and nothing is sent to them.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: "never",
    documentDownloadType: "direct",
    persistAuth: true,
    defaultOpenFirstTag: true,
    hiddenClients: {
      ...Object.fromEntries(OTHER_LANGUAGES.map((language) => [language, true])),
      js: ["axios", "jquery", "ofetch", "xhr"],
      python: ["aiohttp", "httpx_async", "httpx_sync", "python3"],
      shell: ["httpie", "wget"],
    },
    onSidebarClick: (address) => {
      const guide = guides.find(({ name }) => address.endsWith(`#tag/${name.toLowerCase()}`));
      if (guide !== undefined) location.assign(guide.href);
    },
  });
});

/** Languages without samples, so that the four of the samples are easy to find. */
const OTHER_LANGUAGES = [
  "c",
  "clojure",
  "csharp",
  "dart",
  "fsharp",
  "http",
  "java",
  "kotlin",
  "node",
  "objc",
  "ocaml",
  "php",
  "powershell",
  "r",
  "ruby",
  "rust",
  "swift",
];
