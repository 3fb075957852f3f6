// Starts Scalar with the description of the service that serves this page.

// Scalar keeps the API key and its other settings in localStorage. They must not outlive the session.
Object.defineProperty(globalThis, "localStorage", { value: sessionStorage });

// A key is often pasted with its scheme. This listener runs before that of the field.
addEventListener("input", ({ target }) => {
  if (!target.matches(".scalar-password-input")) return;
  const key = target.value.replace(/^\s*(authorization:\s*)?(bearer\s+)?/i, "").trimEnd();
  if (key !== target.value) target.value = key;
}, { capture: true });

addEventListener("DOMContentLoaded", async () => {
  const here = new URL("v1", document.baseURI).href;
  const response = await fetch("openapi.json");
  const text = await response.text();
  // The samples use this service. After a line number, a tab would be hardly visible. In a pattern it is escaped twice.
  const samples = text.replaceAll(/https?:\/\/[^"<> ]+\/v1(?=\/)/g, here)
    .replaceAll(/(?<!\\)\\t/g, "    ");
  const description = JSON.parse(samples, withoutNoise);
  const { info } = description;
  // Scalar shows the license as an icon without a text, and a contact without an address as a bare name.
  delete info.license;
  delete info.contact;
  info.description += "\n\nPeople see and change the animals in [the window](window).";
  // This service comes first, so that nobody sends a key to another environment by mistake.
  const elsewhere = description.servers.filter(({ url }) => new URL(url, here).href !== here);
  description.servers = [{ url: here, description: "This service" }, ...elsewhere];

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
    defaultOpenAllTags: true,
    // The description has samples of its own.
    hiddenClients: true,
    // A guide has no samples beside it, and its tables break only between words.
    customCss: `
      .section-column:has(+ :empty) { flex-basis: 100%; max-width: 45rem }
      .markdown table { word-break: normal }
    `,
  });
});

/** Omits bounds that JavaScript would round, which are those of int64, and patterns, which only programs read. */
function withoutNoise(name, value) {
  const isBound = name === "minimum" || name === "maximum";
  const isRounded = isBound && !Number.isSafeInteger(value);
  return isRounded || name === "pattern" ? undefined : value;
}
