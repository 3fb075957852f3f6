/** The texts of the description that are not about one operation: guides, and samples of requests. */

import { EXAMPLE_BASE } from "../../api/base_path.ts";
import SAMPLES from "./code_samples.md" with { type: "text" };
import ERRORS from "./errors.md" with { type: "text" };
import GUIDES from "./guides.md" with { type: "text" };

/** A guide in Markdown. Each is a tag without operations. */
interface Guide {
  name: string;
  description: string;
}

/** The guides, with samples for that address. The last one explains the errors. */
export function guides(base: string): Guide[] {
  const [, errors] = ERRORS.split("# Errors\n", 2);
  return [
    ...sectionsOf(GUIDES.replaceAll(EXAMPLE_BASE, () => base)),
    { name: "Errors", description: errors.trim() },
  ];
}

const LANGUAGES = { shell: "curl", javascript: "JavaScript", python: "Python", go: "Go" };

/** Samples of a request, as `x-codeSamples`: whole programs, which read the API key from `KEY`. A missing one is left out. */
export function codeSamples(kind: string, url: string, body: object = {}) {
  const section = sectionsOf(SAMPLES).find(({ name }) => name.includes(kind));
  const spaced = JSON.stringify(body, null, 1).replaceAll(/\n */g, " ");
  const values = {
    url,
    method: kind,
    function: kind.toLowerCase(),
    json: JSON.stringify(body),
    javascript: spaced.replaceAll(/"(\w+)":/g, "$1:"),
    python: spaced.replace("{ ", "{").replace(" }", "}"),
  };
  return Object.entries(LANGUAGES).flatMap(([lang, label]) => {
    const block = new RegExp(`^\`\`\`${lang}\n([^]+?)\n\`\`\`$`, "m");
    const template = block.exec(section?.description ?? "")?.[1];
    return template === undefined ? [] : { lang, label, source: fill(template, values) };
  });
}

/** Replaces each `{{name}}` by its value. */
function fill(template: string, values: Record<string, string>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => values[name]);
}

function sectionsOf(markdown: string): Guide[] {
  return markdown.split(/^## /m).slice(1).map((section) => {
    const [name] = section.split("\n", 1);
    return { name, description: section.slice(name.length).trim() };
  });
}
