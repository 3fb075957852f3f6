/** Samples of requests in several languages. Each is a whole program, which reads the API key from `KEY`. */

/** A request to show. */
export interface SampleRequest {
  method: "GET" | "POST";
  url: string;
  /** The body of a request that adds something, so the sample makes an `Idempotency-Key` for it. */
  body?: Record<string, string | number>;
}

/** A sample in the form of the OpenAPI extension `x-codeSamples`, which most viewers show. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

export function codeSamples(request: SampleRequest): CodeSample[] {
  return [
    { lang: "shell", label: "curl", source: curl(request) },
    { lang: "javascript", label: "JavaScript", source: javaScript(request) },
    { lang: "python", label: "Python", source: python(request) },
    { lang: "go", label: "Go", source: go(request) },
  ];
}

function curl({ url, body }: SampleRequest): string {
  const fields = body === undefined ? "" : ` \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: $(openssl rand -hex 16)" \\
  -d '${JSON.stringify(body)}'`;
  return `curl "${url}" \\
  -H "Authorization: Bearer $KEY"${fields}`;
}

function javaScript({ method, url, body }: SampleRequest): string {
  const key = "Authorization: `Bearer ${process.env.KEY}`";
  const options = body === undefined ? `  headers: { ${key} },` : `  method: "${method}",
  headers: {
    ${key},
    "Content-Type": "application/json",
    "Idempotency-Key": crypto.randomUUID(),
  },
  body: JSON.stringify({ ${fieldsOf(body, (name) => name)} }),`;
  return `const response = await fetch("${url}", {
${options}
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`;
}

function python({ method, url, body }: SampleRequest): string {
  const key = `"Authorization": "Bearer " + os.environ["KEY"]`;
  const options = body === undefined ? `    headers={${key}},` : `    headers={
        ${key},
        "Idempotency-Key": str(uuid.uuid4()),
    },
    json={${fieldsOf(body, JSON.stringify)}},`;
  return `import os
${body === undefined ? "" : "import uuid\n"}
import requests

response = requests.${method.toLowerCase()}(
    "${url}",
${options}
)
response.raise_for_status()
print(response.json())`;
}

function go({ method, url, body }: SampleRequest): string {
  const packages = ["fmt", "io", "log", "net/http", "os"];
  if (body !== undefined) packages.push("crypto/rand", "encoding/hex", "strings");
  const payload = body === undefined
    ? ""
    : `	body := strings.NewReader(\`${JSON.stringify(body)}\`)
`;
  const fields = body === undefined ? "" : `
	request.Header.Set("Content-Type", "application/json")
	idempotencyKey := make([]byte, 16)
	rand.Read(idempotencyKey)
	request.Header.Set("Idempotency-Key", hex.EncodeToString(idempotencyKey))`;
  return `package main

import (
${packages.sort().map((name) => `	"${name}"`).join("\n")}
)

func main() {
${payload}	request, err := http.NewRequest("${method}", "${url}", ${
    body === undefined ? "nil" : "body"
  })
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))${fields}

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status, string(content))
}`;
}

/** The fields of an object, in a syntax that has colons and JSON values. */
function fieldsOf(body: Record<string, string | number>, nameOf: (name: string) => string): string {
  return Object.entries(body)
    .map(([name, value]) => `${nameOf(name)}: ${JSON.stringify(value)}`)
    .join(", ");
}
