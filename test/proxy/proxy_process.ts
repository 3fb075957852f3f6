import { assert } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { until } from "../support/raw_connection.ts";
import { readLines } from "../support/service_process.ts";

const CONFIGURATION = new URL("../../scripts/deploy/haproxy.cfg", import.meta.url);
const PLACES = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy"];

/** HAProxy with the configuration that operators install, on loopback and a free port. */
export class ProxyProcess implements AsyncDisposable {
  readonly port: number;
  /** The certificate of the proxy for `localhost` and 127.0.0.1, as PEM. */
  readonly certificate: string;
  #process: Deno.ChildProcess;
  #reading: Promise<void>;
  #folder: string;

  private constructor(
    process: Deno.ChildProcess,
    reading: Promise<void>,
    { port, certificate, folder }: { port: number; certificate: string; folder: string },
  ) {
    this.#process = process;
    this.#reading = reading;
    this.#folder = folder;
    this.port = port;
    this.certificate = certificate;
  }

  /** Resolves when it listens. `upstream` is the address of the service, such as `127.0.0.1:8000`. */
  static async start(upstream: string): Promise<ProxyProcess> {
    const program = haproxyPath();
    assert(program !== undefined, "haproxy is installed");
    const folder = await Deno.makeTempDir();
    const port = freePort();
    const certificate = await makeCertificate(folder);
    const configPath = `${folder}/haproxy.cfg`;
    await Deno.writeTextFile(configPath, await readConfiguration({ folder, port, upstream }));
    await run(program, ["-c", "-f", configPath]);
    const process = new Deno.Command(program, {
      args: ["-f", configPath],
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const lines: string[] = [];
    const reading = readLines(process.stderr, (line) => void lines.push(line));
    const proxy = new ProxyProcess(process, reading, { port, certificate, folder });
    try {
      await until(() =>
        Deno.connect({ hostname: "127.0.0.1", port }).then((it) => (it.close(), true), () => false)
      );
    } catch (error) {
      await proxy[Symbol.asyncDispose]();
      throw new Error(`The proxy did not start: ${lines.join("\n")}`, { cause: error });
    }
    return proxy;
  }

  get address(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  /** Resident memory in bytes. */
  async residentBytes(): Promise<number> {
    const status = await Deno.readTextFile(`/proc/${this.#process.pid}/status`);
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.status;
    await this.#reading;
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** The program of HAProxy, or `undefined` if it is not installed. */
export function haproxyPath(): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(":").map((folder) => `${folder}/haproxy`);
  return [...folders, ...PLACES].find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** The configuration, with other addresses and files, and without another user. */
async function readConfiguration(
  { folder, port, upstream }: { folder: string; port: number; upstream: string },
): Promise<string> {
  const changes: [from: string, to: string][] = [
    ["    user haproxy\n", ""],
    ["    group haproxy\n", ""],
    ["    chroot /var/lib/haproxy\n", ""],
    ["bind :443,:::443 v6only ", `bind 127.0.0.1:${port} `],
    ["/etc/haproxy/pets.pem", `${folder}/pets.pem`],
    ["127.0.0.1:8000", upstream],
  ];
  let text = await Deno.readTextFile(CONFIGURATION);
  for (const [from, to] of changes) {
    assert(text.split(from).length === 2, `the configuration has ${JSON.stringify(from)} once`);
    text = text.replace(from, to);
  }
  return text;
}

/** Writes a self-signed certificate and its key to `pets.pem`, and resolves to the certificate. */
async function makeCertificate(folder: string): Promise<string> {
  const [keyPath, certificatePath] = [`${folder}/key.pem`, `${folder}/certificate.pem`];
  await run("openssl", [
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(" "),
    ..."-subj /CN=localhost -addext basicConstraints=critical,CA:FALSE".split(" "),
    ..."-addext subjectAltName=DNS:localhost,IP:127.0.0.1".split(" "),
    ...["-keyout", keyPath, "-out", certificatePath],
  ]);
  const certificate = await Deno.readTextFile(certificatePath);
  await Deno.writeTextFile(
    `${folder}/pets.pem`,
    certificate + await Deno.readTextFile(keyPath),
  );
  return certificate;
}

async function run(program: string, args: string[]): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args }).output();
  const decoder = new TextDecoder();
  assert(success, `${program}: ${decoder.decode(stdout)}${decoder.decode(stderr)}`);
}
