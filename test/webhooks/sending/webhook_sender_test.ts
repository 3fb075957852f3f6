/** The sender on the runtime of the tests: on Deno in this process, and on Node as a program. */

import { assertEquals, assertGreater, assertLess, assertMatch, assertRejects } from "@std/assert";
import { makeCertificates } from "../../support/certificates.ts";
import { IS_ON_NODE, NODE, ON_DENO } from "../../support/programs.ts";
import { expectDone } from "../../support/third_party_tools.ts";
import { LINUX, PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ROOT } from "../../support/with_project_copy.ts";
import { type Attempt, isConfirmed } from "../../../src/webhooks/sending/attempt.ts";
import { PUBLIC_ADDRESSES, REFUSED_ADDRESSES } from "./addresses.ts";
import { DnsServer } from "./dns_server.ts";
import { type Behaviour, dripping, flooding, oddly, Receiver, responding } from "./receiver.ts";
import { type SendInput, sendOnce } from "./send_once.ts";

/** Linux has all addresses of 127.0.0.0/8. */
const test = testNeeding(PROCESSES, LINUX);

/** How much faster time passes for slow receivers. */
const HASTE = 10;

const PROGRAM = `${ROOT}test/webhooks/sending/send_program.ts`;

async function send(input: SendInput): Promise<Attempt> {
  const [attempt] = await sendAll([input]);
  return attempt;
}

/** Sends requests one after the other. */
async function sendAll(inputs: SendInput[]): Promise<Attempt[]> {
  if (IS_ON_NODE) return await sendBy([NODE, PROGRAM], inputs);
  const attempts = [];
  for (const input of inputs) attempts.push(await sendOnce(input));
  return attempts;
}

/** Sends them in a process of its own. */
async function sendBy([program, ...args]: string[], inputs: SendInput[]): Promise<Attempt[]> {
  const process = new Deno.Command(program, { args, cwd: ROOT, stdin: "piped", stdout: "piped" })
    .spawn();
  const [{ stdout }] = await Promise.all([
    process.output(),
    new Blob([JSON.stringify(inputs)]).stream().pipeTo(process.stdin),
  ]);
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** The outcome of an attempt without its times. */
function outcomeOf({ status, error, answer, retryAfterMs }: Attempt) {
  return JSON.parse(JSON.stringify({ status, error, answer, retryAfterMs }));
}

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/** Sends a request to each of some receivers, and expects that no connection stays open. */
async function sendToEach(
  behaviours: Behaviour[],
  options: Pick<SendInput, "body" | "haste"> = {},
): Promise<Attempt[]> {
  await using stack = new AsyncDisposableStack();
  const receivers = [];
  for (const it of behaviours) receivers.push(stack.use(await Receiver.start(it)));
  const inputs = receivers.map(({ port }) => ({
    url: `http://127.0.0.1:${port}/`,
    allow: "127.0.0.1",
    ...options,
  }));
  const attempts = await sendAll(inputs);
  for (const receiver of receivers) await receiver.closed();
  return attempts;
}

/** The certificates of a receiver, made once: one that is right, and others. */
let certificates: ReturnType<typeof makeAll> | undefined;

async function makeAll() {
  const folder = await Deno.makeTempDir();
  const read = (name: string) => Deno.readTextFile(`${folder}/${name}`);
  const { authority, certificate, key } = await makeCertificates(
    folder,
    "DNS:receiver.test,DNS:rebind.test,IP:127.0.0.1",
  );
  const extensions = `-extfile ${folder}/extensions`;
  const sign = `-CA ${authority} -CAkey ${folder}/authority.key -CAcreateserial`;
  const expired = `x509 -req -in ${folder}/server.csr ${sign} ${extensions} -days -1`;
  await expectDone("openssl", [...expired.split(" "), "-out", `${folder}/expired.crt`]);
  const made = {
    authorities: await Deno.readTextFile(authority),
    key: await Deno.readTextFile(key),
    cert: await Deno.readTextFile(certificate),
    expired: await read("expired.crt"),
  };
  await Deno.remove(folder, { recursive: true });
  return made;
}

async function startSecure(behaviour: Behaviour, changes: { ALPNProtocols?: string[] } = {}) {
  certificates ??= makeAll();
  const { key, cert } = await certificates;
  return Receiver.start(behaviour, { key, cert, ...changes });
}

async function authorities(): Promise<string> {
  certificates ??= makeAll();
  return (await certificates).authorities;
}

test("The request is sent as it is, and a 2xx confirms it", async () => {
  await using receiver = await Receiver.start(responding(OK));
  const host = `127.0.0.1:${receiver.port}`;
  const attempt = await send({
    url: `http://${host}/hook/a%20b?c=d`,
    headers: { "content-type": "application/json", "webhook-id": "01" },
    body: '{"name":"Rëx"}',
    allow: "127.0.0.1",
  });
  assertEquals([outcomeOf(attempt), isConfirmed(attempt)], [{ status: 200 }, true]);
  assertMatch(attempt.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const [head, body] = receiver.received.split("\r\n\r\n");
  const [line, ...headers] = head.toLowerCase().split("\r\n");
  assertEquals(line, "post /hook/a%20b?c=d http/1.1");
  assertEquals(headers.toSorted(), [
    "connection: close",
    "content-length: 15",
    "content-type: application/json",
    `host: ${host}`,
    "webhook-id: 01",
  ]);
  assertEquals(body, '{"name":"Rëx"}');
  await receiver.closed();
});

test("With TLS, the certificate must be valid for the name or the address", async () => {
  await using receiver = await startSecure(responding(OK));
  const names = { "receiver.test": ["127.0.0.1"], "other.test": ["127.0.0.1"] };
  const of = async (host: string, trusted?: string) =>
    outcomeOf(
      await send({
        url: `https://${host}:${receiver.port}/`,
        allow: "127.0.0.0/8",
        names,
        authorities: trusted,
      }),
    );
  const trusted = await authorities();
  for (const host of ["receiver.test", "RECEIVER.TEST.", "127.0.0.1"]) {
    assertEquals(await of(host, trusted), { status: 200 }, host);
  }
  assertEquals(receiver.names, ["receiver.test", "receiver.test", ""]);
  const sent = receiver.received;
  for (const host of ["other.test", "127.0.0.2", "localhost"]) {
    assertEquals(await of(host, trusted), { error: "certificate_refused" }, host);
  }
  assertEquals(await of("receiver.test"), { error: "certificate_refused" }, "unknown authority");
  assertEquals(receiver.received, sent);
});

test("An expired certificate is refused", async () => {
  certificates ??= makeAll();
  const { key, expired } = await certificates;
  await using receiver = await Receiver.start(responding(OK), { key, cert: expired });
  const attempt = await send({
    url: `https://127.0.0.1:${receiver.port}/`,
    allow: "127.0.0.1",
    authorities: await authorities(),
  });
  assertEquals([outcomeOf(attempt), receiver.received], [{ error: "certificate_refused" }, ""]);
});

test("A receiver that speaks no TLS, or no HTTP/1.1, fails", async () => {
  const to = async (receiver: Receiver) =>
    outcomeOf(
      await send({
        url: `https://127.0.0.1:${receiver.port}/`,
        allow: "127.0.0.1",
        authorities: await authorities(),
      }),
    );
  {
    await using receiver = await Receiver.start(responding("HTTP/1.1 400 Bad Request\r\n\r\n"));
    assertEquals(await to(receiver), { error: "tls_failed" });
  }
  {
    await using receiver = await startSecure(responding(OK), { ALPNProtocols: ["h2"] });
    assertEquals(await to(receiver), { error: "tls_failed" });
  }
  {
    await using receiver = await Receiver.start({ onConnection: (socket) => socket.destroy() });
    assertEquals(await to(receiver), { error: "connection_failed" });
  }
});

test("No name leads to a special address, and no URL has one", async () => {
  const url = "https://receiver.test/";
  const addresses = REFUSED_ADDRESSES.map(([address]) => address);
  const answers = [...addresses.map((address) => [address]), addresses];
  const byName = await sendAll(answers.map((it) => ({ url, names: { "receiver.test": it } })));
  for (const [index, attempt] of byName.entries()) {
    assertEquals(outcomeOf(attempt), { error: "address_refused" }, answers[index].join());
  }
  const hosts = addresses.map((address) => address.includes(":") ? `[${address}]` : address);
  const spellings = ["localhost", "localhost.", "a.localhost", "0x7f.1", "2130706433"];
  const urls = [...hosts, ...spellings].flatMap((it) => [`https://${it}/`, `http://${it}/`]);
  const names = Object.fromEntries(spellings.map((name) => [name, PUBLIC_ADDRESSES]));
  const byUrl = await sendAll(urls.map((url) => ({ url, names })));
  for (const [index, attempt] of byUrl.entries()) {
    assertEquals(outcomeOf(attempt), { error: "url_refused" }, urls[index]);
  }
});

test("Only an allowed address is called without TLS", async () => {
  await using receiver = await Receiver.start(responding(OK));
  const { port } = receiver;
  const to = async (url: string) =>
    outcomeOf(await send({ url, allow: "127.0.0.1", names: { "receiver.test": ["127.0.0.1"] } }));
  assertEquals(await to(`http://localhost:${port}/`), { status: 200 });
  assertEquals(await to(`http://0x7f.1:${port}/`), { status: 200 });
  assertEquals(receiver.addresses, ["127.0.0.1", "127.0.0.1"]);
  for (const host of ["receiver.test", "127.0.0.2", "8.8.8.8"]) {
    assertEquals(await to(`http://${host}:${port}/`), { error: "url_refused" }, host);
  }
  assertEquals(receiver.addresses.length, 2);
});

test("Of several addresses of a name, none that is private is called", async () => {
  await using receiver = await startSecure(responding(OK));
  const to = async (addresses: string[]) =>
    outcomeOf(
      await send({
        url: `https://receiver.test:${receiver.port}/`,
        allow: "127.0.0.1",
        names: { "receiver.test": addresses },
        authorities: await authorities(),
      }),
    );
  assertEquals(await to(["127.0.0.2", "10.0.0.1", "127.0.0.1", "::1"]), { status: 200 });
  assertEquals(await to(["127.0.0.2", "10.0.0.1"]), { error: "address_refused" });
  assertEquals(receiver.addresses, ["127.0.0.1"]);
});

test("If an address refuses the connection, the next one is tried", async () => {
  await using receiver = await startSecure(responding(OK));
  const input = {
    allow: "127.0.0.1,::1",
    // The receiver does not listen on IPv6.
    names: { "receiver.test": ["::1", "127.0.0.1"] },
    authorities: await authorities(),
  };
  const [open, closed] = await sendAll([
    { ...input, url: `https://receiver.test:${receiver.port}/` },
    { ...input, url: "https://receiver.test:1/" },
  ]);
  assertEquals(outcomeOf(open), { status: 200 });
  assertEquals(outcomeOf(closed), { error: "connection_failed" });
});

test("A name that has another address the second time does not lead there", async () => {
  await using receiver = await startSecure(responding(OK));
  const input = {
    url: `https://rebind.test:${receiver.port}/`,
    // Stands for a public address. The receiver listens on the other one, too.
    allow: "127.0.0.1",
    names: { "rebind.test": ["127.0.0.1"] },
    laterNames: { "rebind.test": ["127.0.0.2"] },
    authorities: await authorities(),
  };
  const attempts = await sendAll([input, { ...input, names: input.laterNames }]);
  assertEquals(attempts.map(outcomeOf), [{ status: 200 }, { error: "address_refused" }]);
  assertEquals(receiver.addresses, ["127.0.0.1"]);
});

test("The address of the connection counts, not the one that was called", async () => {
  await using receiver = await startSecure(responding(OK));
  // Linux connects to 127.0.0.1 in its place.
  const to = async (allow: string) =>
    outcomeOf(
      await send({
        url: `https://0.0.0.0:${receiver.port}/`,
        allow,
        authorities: await authorities(),
      }),
    );
  assertEquals(await to("0.0.0.0"), { error: "address_refused" });
  assertEquals(receiver.received, "");
  assertEquals(await to("0.0.0.0,127.0.0.1"), { error: "certificate_refused" });
});

test("DNS has the addresses of a name, and a server that is silent ends with the attempt", async () => {
  await using receiver = await startSecure(responding(OK));
  await using dns = await DnsServer.start({
    "receiver.test": "127.0.0.1",
    "private.test": "127.0.0.2",
    "silent.test": null,
  });
  const options = { allow: "127.0.0.1", dnsServer: dns.address, authorities: await authorities() };
  const names = ["receiver.test", "receiver.test.", "private.test", "none.test", "silent.test"];
  const attempts = await sendAll(names.map((name) => ({
    url: `https://${name}:${receiver.port}/`,
    ...options,
    // The others have all their time, also on a machine with much else to do.
    haste: name === "silent.test" ? HASTE : 1,
  })));
  assertEquals(attempts.map(outcomeOf), [
    { status: 200 },
    { status: 200 },
    { error: "address_refused" },
    { error: "name_not_resolved" },
    { error: "timed_out" },
  ]);
  // The resolver itself would wait for 20 s.
  assertLess(attempts.at(-1)!.durationMs, 5_000);
  const asked = [...dns.asked].toSorted();
  assertEquals(asked, ["none.test", "private.test", "receiver.test", "silent.test"]);
  // A name of this machine is not asked for.
  const url = "https://localhost/";
  const local = await send({ url, dnsServer: dns.address });
  assertEquals([outcomeOf(local), dns.asked.size], [{ error: "url_refused" }, 4]);
});

test("A redirect is not followed", async () => {
  await using target = await Receiver.start(responding(OK));
  const location = `http://127.0.0.1:${target.port}/`;
  const statuses = [301, 302, 303, 307, 308];
  const responses = statuses.map((status) =>
    `HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`
  );
  const attempts = await sendToEach(responses.map(responding));
  assertEquals(attempts.map(outcomeOf), statuses.map((status) => ({ status })));
  assertEquals(attempts.some(isConfirmed), false);
  assertEquals(target.addresses, []);
});

/** Responses, and what comes of them. */
const RESPONSES: [what: string, response: string, outcome: Record<string, unknown>][] = [
  ["204", "HTTP/1.1 204 No Content\r\n\r\n", { status: 204 }],
  ["a body without an end", "HTTP/1.1 202 Accepted\r\ncontent-length: 9\r\n\r\nok", {
    status: 202,
  }],
  ["103 before", `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`, { status: 200 }],
  [
    "a refusal",
    "HTTP/1.1 400 Bad Request\r\ncontent-length: 4\r\n\r\nwhy?",
    { status: 400, answer: "why?" },
  ],
  [
    "a refusal in chunks",
    "HTTP/1.1 400 Bad Request\r\ntransfer-encoding: chunked\r\n\r\n2\r\nwh\r\n2\r\ny?\r\n0\r\n\r\n",
    { status: 400, answer: "why?" },
  ],
  [
    "1,024 bytes",
    `HTTP/1.1 500 Error\r\ncontent-length: 1024\r\n\r\n${"a".repeat(1024)}`,
    { status: 500, answer: "a".repeat(1024) },
  ],
  [
    "more bytes, and a character that is cut",
    `HTTP/1.1 500 Error\r\ncontent-length: 9000\r\n\r\n${"ab€".repeat(1_800)}`,
    { status: 500, answer: "ab€".repeat(204) + "ab" },
  ],
  [
    "seconds to wait",
    "HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n",
    { status: 503, retryAfterMs: 120_000 },
  ],
  [
    "a date to wait for, in the past",
    "HTTP/1.1 429 Slow\r\nretry-after: Fri, 31 Dec 1999 23:59:59 GMT\r\ncontent-length: 0\r\n\r\n",
    { status: 429, retryAfterMs: 0 },
  ],
  ...["-1", "1.5", "soon", "99999999999", "1e3", ""].map((text): typeof RESPONSES[number] => [
    `no time to wait: ${text}`,
    `HTTP/1.1 429 Slow\r\nretry-after: ${text}\r\ncontent-length: 0\r\n\r\n`,
    { status: 429 },
  ]),
  ["101", "HTTP/1.1 101 Switch\r\nupgrade: a\r\nconnection: upgrade\r\n\r\n", {
    error: "malformed_response",
  }],
  ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n", { error: "malformed_response" }],
  ["HTTP/2", "\0\0\x12\x04\0\0\0\0\0", { error: "malformed_response" }],
  ["a header without a colon", "HTTP/1.1 200 OK\r\na b\r\n\r\n", { error: "malformed_response" }],
];

test("Each response has its outcome", async () => {
  const attempts = await sendToEach(RESPONSES.map(([, response]) => responding(response)));
  for (const [index, [what, , outcome]] of RESPONSES.entries()) {
    assertEquals(outcomeOf(attempts[index]), outcome, what);
  }
});

test("A date in Retry-After is a time from now on", async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const response = `HTTP/1.1 503 Busy\r\nretry-after: ${date}\r\ncontent-length: 0\r\n\r\n`;
  await using receiver = await Receiver.start(responding(response));
  const url = `http://127.0.0.1:${receiver.port}/`;
  const { retryAfterMs = 0 } = await send({ url, allow: "127.0.0.1" });
  assertLess(Math.abs(retryAfterMs - 3_600_000), 60_000);
});

const CHUNKED = "HTTP/1.1 500 Error\r\ntransfer-encoding: chunked\r\n\r\n";

/** Receivers that send without an end, as fast as they can. */
const FLOODS: [what: string, behaviour: Behaviour, outcome: Record<string, unknown>][] = [
  ["headers", flooding("HTTP/1.1 200 OK\r\n", "x-a: aaaaaaaaaaaaaa\r\n"), {
    error: "malformed_response",
  }],
  ["one header", flooding("HTTP/1.1 200 OK\r\nx-a: ", "a"), { error: "malformed_response" }],
  ["responses before the response", flooding("", "HTTP/1.1 103 Early Hints\r\n\r\n"), {
    error: "malformed_response",
  }],
  ["a confirmation", flooding("HTTP/1.1 200 OK\r\n\r\n", "a"), { status: 200 }],
  ["a refusal", flooding("HTTP/1.1 500 Error\r\n\r\n", "a"), {
    status: 500,
    answer: "a".repeat(1024),
  }],
  ["one extension of a chunk", flooding(`${CHUNKED}1;a=`, "a"), { status: 500 }],
  ["extensions of chunks", flooding(CHUNKED, `1;a=${"a".repeat(8_000)}\r\na\r\n`), {
    status: 500,
  }],
  ["trailers", flooding(`${CHUNKED}1\r\na\r\n0\r\n`, "x-a: a\r\n"), { status: 500 }],
];

test("An answer without an end is not read further than its limit", async () => {
  const attempts = await sendToEach(FLOODS.map(([, behaviour]) => behaviour));
  for (const [index, [what, , outcome]] of FLOODS.entries()) {
    const found = outcomeOf(attempts[index]);
    // How much of a body comes before the limit of all bytes depends on the packets.
    if (outcome.answer === undefined) delete found.answer;
    assertEquals(found, outcome, what);
    assertLess(attempts[index].durationMs, 15_000, what);
  }
});

const DRIPPED_HEADER = "HTTP/1.1 200 OK\r\nx-a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/** Receivers that take their time. */
const SLOW: [what: string, behaviour: Behaviour, outcome: Record<string, unknown>][] = [
  ["nothing", {}, { error: "timed_out" }],
  ["headers", dripping("", DRIPPED_HEADER, 50), { error: "timed_out" }],
  ["a refusal", dripping("HTTP/1.1 500 Error\r\n\r\nwhy", "?", 50), { status: 500 }],
];

test("An attempt ends in time, however slow its receiver is", async () => {
  const slow = await sendToEach(SLOW.map(([, behaviour]) => behaviour), { haste: HASTE });
  for (const [index, [what, , outcome]] of SLOW.entries()) {
    const { answer = "why?", ...found } = outcomeOf(slow[index]);
    assertEquals(found, outcome, what);
    assertMatch(answer, /^why\?+$/);
  }
  await using silent = await Receiver.start({});
  const url = `https://127.0.0.1:${silent.port}/`;
  const inTls = await send({ url, allow: "127.0.0.1", haste: HASTE });
  const names = { "receiver.test": null };
  const inName = await send({ url: "https://receiver.test/", names, haste: HASTE });
  for (const attempt of [inTls, inName]) assertEquals(outcomeOf(attempt), { error: "timed_out" });
  for (const { durationMs } of [...slow, inTls, inName]) {
    assertGreater(durationMs, 14_000 / HASTE);
    assertLess(durationMs, 15_000);
  }
  await silent.closed();
});

test("A receiver may respond or close before the request was sent", async () => {
  const text = "HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
  const cases: [Behaviour, Record<string, unknown>][] = [
    [{ onConnection: (socket) => socket.pause().write(text) }, { status: 413 }],
    [{ onConnection: (socket) => socket.end(text) }, { status: 413 }],
    [{ onConnection: (socket) => socket.destroy() }, { error: "connection_failed" }],
    [{ onConnection: (socket) => socket.end() }, { error: "connection_failed" }],
    [{ onRequest: (socket) => socket.end("HTTP/1.1 200 OK\r\nx-a:") }, {
      error: "connection_failed",
    }],
  ];
  const body = "a".repeat(64 * 1024);
  const attempts = await sendToEach(cases.map(([behaviour]) => behaviour), { body });
  assertEquals(attempts.map(outcomeOf), cases.map(([, outcome]) => outcome));
});

test("Whatever a receiver sends, the attempt has an outcome, and nothing else happens", async () => {
  const receivers = Array.from({ length: 100 }, (_, seed) => oddly(seed));
  const attempts = await sendToEach(receivers, { haste: 10 * HASTE });
  assertEquals(attempts.length, receivers.length);
  const seeds = attempts.keys().filter((seed) => {
    const { status, error, answer = "" } = attempts[seed];
    const hasOne = (status === undefined) !== (error === undefined);
    return !hasOne || new TextEncoder().encode(answer).length > 1024;
  });
  assertEquals([...seeds], []);
});

test("send() rejects with the reason if the signal aborts, and closes the connection", async () => {
  await using receiver = await Receiver.start({});
  const url = `http://127.0.0.1:${receiver.port}/`;
  const stop = new AbortController();
  const sending = sendOnce({ url, allow: "127.0.0.1" }, stop.signal);
  while (receiver.received === "") await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(new Error("stopped"));
  await assertRejects(() => sending, Error, "stopped");
  await receiver.closed();
  await assertRejects(() => sendOnce({ url, allow: "127.0.0.1" }, stop.signal), Error, "stopped");
});

testNeeding(PROCESSES, LINUX, ON_DENO)("The permissions of the service suffice", async () => {
  const program = [Deno.execPath(), "run", "-q", "--no-prompt", "-P=service", PROGRAM];
  await using receiver = await startSecure(responding(OK));
  const url = `https://127.0.0.1:${receiver.port}/`;
  const input = { url, allow: "127.0.0.1", authorities: await authorities() };
  const byDns = { url: "https://receiver.invalid/" };
  const attempts = await sendBy(program, [input, byDns]);
  assertEquals(attempts.map(outcomeOf), [{ status: 200 }, { error: "name_not_resolved" }]);
});
