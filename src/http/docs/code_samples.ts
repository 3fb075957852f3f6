/** Samples of requests in several languages. Each is a whole program, which reads the API key from `KEY`. */

import SAMPLES from "./code_samples.md" with { type: "text" };

/** The languages of the samples, each with its mark in the Markdown. */
const LANGUAGES = [
  ["sh", "shell", "curl"],
  ["js", "javascript", "JavaScript"],
  ["python", "python", "Python"],
  ["go", "go", "Go"],
];

/** A sample in the form of the OpenAPI extension `x-codeSamples`, which most viewers show. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

/** Samples of a GET, or of a POST that adds an animal. */
export function codeSamples(method: "GET" | "POST", url: string): CodeSample[] {
  const section = SAMPLES.split(/^## /m).find((text) => text.startsWith(`${method}\n`))!;
  return LANGUAGES.map(([mark, lang, label]) => {
    const [, source] = new RegExp(`^\`\`\`${mark}\n([^]+?)\n\`\`\`$`, "m").exec(section)!;
    return { lang, label, source: source.replaceAll("{{url}}", url) };
  });
}
