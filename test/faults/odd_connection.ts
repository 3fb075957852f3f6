/** Connections of clients that send what no client should. The same seed makes the same connection. */

import { Random } from "../sim/random.ts";

/** A request that must get its response, whatever follows it on the connection. */
export interface SoundRequest {
  text: string;
  isHead: boolean;
  status: number;
  /** A part of the body. */
  contains: string;
}

export interface OddConnection {
  port: "service" | "metrics";
  sound: SoundRequest[];
  /** What follows these requests; each character is a byte. */
  odd: string;
  /** The lengths of the writes; the last one is that of all the rest. */
  writes: number[];
  /**
   * What the client does after its last byte, and its last response unless it leaves at once: it reads a little longer,
   * or ends its side first.
   */
  end: "leaves" | "resets" | "reads" | "half-closes";
}

/** The name of the pet that a request of this connection adds. */
export const petNameOf = (seed: number, index: number) => `odd ${seed}.${index}`;

export function oddConnection(seed: number, token: string): OddConnection {
  const random = new Random(seed);
  const port = random.chance(0.1) ? "metrics" : "service";
  const count = random.weighted({ 0: 4, 1: 4, 2: 1, 3: 1 });
  const makeSound = port === "metrics" ? soundOfMetrics : soundOfService;
  const sound = Array.from({ length: Number(count) }, (_, index) => {
    return makeSound(random, token, petNameOf(seed, index));
  });
  const parts = Number(random.weighted({ 1: 4, 2: 2, 3: 1 }));
  const odd = Array.from({ length: parts }, () => ODD[random.weighted(WEIGHTS)](random, token))
    .join("");
  const length = odd.length + sound.reduce((sum, { text }) => sum + text.length, 0);
  const writes = Array.from({ length: random.integer(0, 3) }, () => random.integer(1, length + 1));
  const end = random.weighted({ leaves: 2, resets: 2, reads: 5, "half-closes": 2 });
  return { port, sound, odd, writes, end };
}

function soundOfMetrics(random: Random): SoundRequest {
  const [path, status, contains] = random.pick(
    [
      ["/metrics", 200, "# TYPE"],
      ["/nothing", 404, ""],
    ] as const,
  );
  return { text: `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, isHead: false, status, contains };
}

function soundOfService(random: Random, token: string, name: string): SoundRequest {
  const key = `Authorization: Bearer ${token}\r\n`;
  const pet = JSON.stringify({ name, categoryId: 1 });
  const [method, path, status, contains] = random.pick(
    [
      ["POST", "/v1/pets", 201, `"name":"${name}"`],
      ["POST", "/v1/pets", 201, `"name":"${name}"`],
      ["GET", "/healthz", 200, ""],
      ["HEAD", "/healthz", 200, ""],
      ["GET", "/v1/pets?limit=1", 200, "["],
      ["GET", "/v1/pets/0", 404, '"code":"pet_not_found"'],
      ["PUT", "/v1/pets", 405, '"code":"method_not_allowed"'],
    ] as const,
  );
  const body = method === "POST" ? framed(random, pet) : "\r\n";
  const text = `${method} ${path} HTTP/1.1\r\nHost: a\r\n${key}${body}`;
  return { text, isHead: method === "HEAD", status, contains };
}

/** The rest of a request with a JSON body, from its last headers. */
function framed(random: Random, body: string): string {
  const type = "Content-Type: application/json\r\n";
  if (random.chance(0.6)) return `${type}Content-Length: ${body.length}\r\n\r\n${body}`;
  const half = random.integer(1, body.length - 1);
  const chunks = [body.slice(0, half), body.slice(half), ""]
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  return `${type}Transfer-Encoding: chunked\r\n\r\n${chunks.join("")}`;
}

const METHODS = [
  ..."GET GET GET HEAD POST POST PUT PATCH DELETE OPTIONS OPTIONS CONNECT TRACE".split(" "),
  ...["PRI", "FOO", "get", "QUERY", "SOURCE", "M-SEARCH", "", "G\0T", "\xff"],
];

/** The pieces of a target that make its form. */
const MARKS = ["*", "*", "/", "?", ":", "://", "a", "x:y"];

/** The pieces of any target. */
const PIECES = [
  ...'* / ? : // :// a x:y http https # @ [ ] [::1] [::1 \\ % %00 %2f %zz %ff .. . ; & = + ~ | ^ ` { } < > "'
    .split(" "),
  ...["/v1/pets", "/v1/pets/1", "/v1/events", "/v1/categories/1", "/healthz", "/readyz", "/docs"],
  ...["/window", "/openapi.json", "/metrics", "?limit=1", "&name=", "99999", "-1", "a:1", "a.b"],
  ...["\xff", "\x80", "\xc3\xa9", "\t", "\x7f", "\0", " ", "x".repeat(300)],
];

const VERSIONS = [
  ...Array(12).fill("HTTP/1.1"),
  ..."HTTP/1.0 HTTP/1.0 HTTP/0.9 HTTP/1.2 HTTP/2.0 HTTP/9.9 http/1.1 HTTP/1.1x HTTPS/1.1 X".split(
    " ",
  ),
  ...["", "HTTP/1.\xff"],
];

const NUMBERS = [
  "0",
  "1",
  "29",
  "65536",
  "65537",
  "-1",
  "+5",
  "0x1",
  "5, 5",
  "1e3",
  "",
  "9".repeat(20),
];

/** Headers that a server or the service reads, with values that they may read. */
const HEADERS: Record<string, string[]> = {
  "Host": [
    "a",
    "",
    "a:1",
    "a:99999",
    "[::1]",
    "[",
    "a/b",
    "a?b",
    "a@b",
    "\xff",
    "a, b",
    "x".repeat(300),
  ],
  "Content-Length": NUMBERS,
  "Transfer-Encoding": ["chunked", "identity", "chunked, chunked", "gzip, chunked", "xchunked", ""],
  "Connection": [
    "close",
    "keep-alive",
    "Upgrade",
    "upgrade, close",
    "TE",
    "content-length",
    "\x01",
  ],
  "Upgrade": ["websocket", "h2c", "TLS/1.0", ""],
  "HTTP2-Settings": ["AAMAAABkAARAAAAAAAIAAAAA", "%"],
  "Sec-WebSocket-Key": ["dGhlIHNhbXBsZSBub25jZQ==", "x"],
  "Expect": ["100-continue", "100-Continue", "tea", ""],
  "Content-Type": ["application/json", "application/json;charset=utf-8", "text/plain", ";", "\xff"],
  "Content-Encoding": ["gzip", "identity", "\x80"],
  "Accept": ["text/html", "text/event-stream", "*/*;q=2", ",", "\xff"],
  "Accept-Encoding": ["gzip", "gzip;q=0", "*", "br;q=x", ",,,", "gzip;q=1e400"],
  "If-None-Match": ["*", '"x"', 'W/"', "\xff", ","],
  "If-Match": ["*", '"x"', 'W/"', "\xff", ","],
  "Idempotency-Key": ['"a"', "a", '"\xff"', "x".repeat(300), ""],
  "Last-Event-ID": NUMBERS,
  "Origin": ["https://shop.example", "null", "\xff"],
  "Access-Control-Request-Method": ["POST", "\xff"],
  "X-Forwarded-For": ["1.2.3.4", "::1, x", ",", "\xff".repeat(50)],
  "Range": ["bytes=0-1", "bytes=-"],
  "TE": ["trailers"],
  "Trailer": ["Host"],
  "Cookie": ["a=b", "\xff"],
  "__proto__": ["x"],
  "constructor": ["x"],
};

/** Lines that are no headers. */
const NO_HEADERS = [
  "Broken",
  ": x",
  " folded: x",
  "a b: c",
  "X\0: y",
  "X: a\0b",
  "\xff: x",
  "X:\r y",
  "X: a\nb",
];

const BODIES = [
  "",
  "{",
  '{"name":"Rex","categoryId":1}',
  '{"name":"\xff","categoryId":1}',
  "\0".repeat(29),
  "1d\r\n{",
  '1d\r\n{"name":"Rex","categoryId":1}\r\n0\r\n\r\n',
  '1d;x=y\r\n{"name":"Rex","categoryId":1}\r\n0\r\nX: y\r\n\r\n',
  "0\r\n\r\n",
  "zz\r\n",
  "-1\r\n",
  "FFFFFFFFFFFFFFFFF\r\n",
  "0\r\nBroken\r\n\r\n",
  `1;${"x".repeat(20_000)}\r\n`,
];

const WEIGHTS = {
  targets: 4,
  headers: 4,
  bodies: 3,
  changed: 4,
  bytes: 1,
  protocols: 1,
  nothing: 1,
};

const ODD: Record<keyof typeof WEIGHTS, (random: Random, token: string) => string> = {
  targets: (random) => `${requestLine(random)}Host: a\r\n\r\n`.repeat(random.integer(1, 2)),
  headers(random, token) {
    const line = random.chance(0.3) ? requestLine(random) : plainLine(random);
    return line + headerLines(random, token) + "\r\n" + random.pick(BODIES);
  },
  bodies(random, token) {
    const framing = random.pick([
      "Transfer-Encoding: chunked",
      "Content-Length: 29",
      "Content-Length: 3",
    ]);
    const expect = random.pick(["", "", "Expect: 100-continue\r\n"]);
    const head = `${plainLine(random)}Host: a\r\nAuthorization: Bearer ${token}\r\n`;
    return `${head}Content-Type: application/json\r\n${expect}${framing}\r\n\r\n${
      random.pick(BODIES)
    }`;
  },
  changed: (random, token) => changed(random, soundOfService(random, token, "changed").text),
  bytes: (random) => textOf(random.bytes(random.integer(1, 200))),
  protocols(random) {
    const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const settings = "\0\0\0\x04\0\0\0\0\0";
    const hello = "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03";
    const requests = preface + settings + http2Request(random, 1) + http2Request(random, 3);
    const starts = [requests, requests, preface, preface + settings, hello, "\r\n\r\n", "\0", "x"];
    return random.pick(starts) + textOf(random.bytes(random.pick([0, 0, 60])));
  },
  nothing: () => "",
};

/** A frame with the headers of a request over HTTP/2 (RFC 9113 section 6.2), each a literal (RFC 7541 section 6.2.2). */
function http2Request(random: Random, stream: number): string {
  const header = random.pick(Object.keys(HEADERS));
  const fields = {
    ":method": random.pick(["GET", "POST", random.pick(METHODS)]),
    ":scheme": random.pick(["http", "http", "http", "https", "x", ""]),
    ":path": random.pick(["/", ""]) + randomTarget(random),
    ":authority": random.pick(["a", "a", random.pick(HEADERS.Host)]),
    [header.toLowerCase()]: random.pick(HEADERS[header]),
  };
  const block = Object.entries(fields).flatMap(([name, value]) => ["\0", sized(name), sized(value)])
    .join("");
  const isLast = random.pick([4, 5]);
  const length = String.fromCharCode(0, block.length >> 8, block.length & 0xff);
  return `${length}\x01${String.fromCharCode(isLast)}\0\0\0${String.fromCharCode(stream)}${block}`;
}

function sized(text: string): string {
  const cut = text.slice(0, 126);
  return String.fromCharCode(cut.length) + cut;
}

function requestLine(random: Random): string {
  const target = randomTarget(random);
  const end = random.chance(0.95) ? "\r\n" : random.pick(["\n", "\r", " \r\n", "\r\n ", "\0\r\n"]);
  return `${random.pick(METHODS)} ${target} ${random.pick(VERSIONS)}${end}`;
}

function randomTarget(random: Random): string {
  const pieces = random.pick([MARKS, PIECES]);
  return Array.from({ length: random.integer(0, 5) }, () => random.pick(pieces)).join("");
}

function plainLine(random: Random): string {
  const path = random.pick(["/v1/pets", "/v1/pets", "/v1/pets/1", "/healthz", "/v1/events", "*"]);
  return `${random.pick(METHODS)} ${path} HTTP/1.1\r\n`;
}

function headerLines(random: Random, token: string): string {
  const lines = Array.from({ length: random.integer(0, 6) }, () => {
    if (random.chance(0.1)) return random.pick(NO_HEADERS);
    const name = random.pick(Object.keys(HEADERS));
    return `${name}: ${random.pick(HEADERS[name])}`;
  });
  if (random.chance(0.7)) lines.push("Host: a");
  if (random.chance(0.7)) lines.push(`Authorization: Bearer ${token}`);
  if (random.chance(0.02)) lines.push(`X: ${"x".repeat(70_000)}`);
  return lines.map((line) => `${line}\r\n`).join("");
}

/** A request in which some bytes are others, are missing, or are there twice. */
function changed(random: Random, text: string): string {
  let result = text;
  for (let left = random.integer(1, 3); left > 0; left--) {
    const at = random.integer(0, result.length - 1);
    const length = random.integer(1, 8);
    const middle = random.pick([
      textOf(random.bytes(1)) + result.slice(at + 1, at + length),
      "",
      result.slice(at, at + length).repeat(2),
      random.pick(PIECES) + result.slice(at, at + length),
    ]);
    result = result.slice(0, at) + middle + result.slice(at + length);
  }
  return result;
}

/** A text with a character for each byte. */
function textOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
