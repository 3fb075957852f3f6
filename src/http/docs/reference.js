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
  const { createApiReference } = globalThis.Scalar;
  const response = await fetch("openapi.json");
  const description = JSON.parse(await response.text(), withoutNoise);
  // Scalar shows the license as an icon without a text, and a contact without an address as a bare name.
  const { contact, license: _license, ...info } = description.info;
  description.info = contact?.email ?? contact?.url ? { ...info, contact } : info;
  const here = new URL("v1", document.baseURI).href;
  const elsewhere = description.servers.filter(({ url }) => new URL(url, here).href !== here);
  // This service comes first, so that nobody sends a key to another environment by mistake.
  description.servers = [{ url: here, description: "This service" }, ...elsewhere];

  for (const item of Object.values(description.paths)) {
    for (const { "x-codeSamples": samples } of Object.values(item)) {
      for (const sample of samples) {
        // After the line number, a tab would be hardly visible.
        sample.source = sample.source.replace(SAMPLE_BASE, here).replaceAll("\t", "    ");
      }
    }
  }

  // The guides follow the operations in the side bar and in the search, but they are pages of their own.
  const guides = Array.from(
    document.querySelectorAll("#guides a"),
    ({ href, textContent, title }) => ({ name: textContent, description: title, href }),
  );
  const namesOf = (tags) => tags.map(({ name }) => name);
  description["x-tagGroups"] = [
    { name: "Operations", tags: namesOf(description.tags) },
    { name: "Guides", tags: namesOf(guides) },
  ];
  description.tags.push(...guides.map(({ name, description }) => ({ name, description })));
  openInsteadOfTags(guides);

  // Scalar would take the content of an existing element for its own.
  const reference = document.createElement("div");
  document.querySelector("#page").replaceWith(reference);
  createApiReference(reference, {
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
    defaultOpenAllTags: true,
    // The description has samples of its own.
    hiddenClients: true,
    customCss: guides.map(({ name }) => `${sectionOf(name)} { display: none; }`).join("\n"),
  });
});

/** Opens the page of a guide when Scalar is about to show the section of its tag. */
function openInsteadOfTags(guides) {
  const { pushState } = history;
  history.pushState = function (state, unused, url) {
    const guide = guides.find(({ name }) => `${url}`.endsWith(`#${anchorOf(name)}`));
    if (guide === undefined) return pushState.call(this, state, unused, url);
    location.assign(guide.href);
  };
}

/** The selector of the section of a tag. */
function sectionOf(name) {
  return `.tag-section-container:has(> [id$="/${anchorOf(name)}"])`;
}

function anchorOf(name) {
  return `tag/${name.toLowerCase()}`;
}

/** The base address in the samples. */
const SAMPLE_BASE = /https?:\/\/[^"]+(?=\/pets)/;

/**
 * Omits bounds that JavaScript would round, which are those of int64, and patterns, which only programs read.
 */
function withoutNoise(name, value) {
  const isBound = name === "minimum" || name === "maximum";
  return name === "pattern" || (isBound && !Number.isSafeInteger(value)) ? undefined : value;
}
