import { assert, assertEquals } from "@std/assert";
import { freePort } from "../../support/free_port.ts";
import { NODE } from "../../support/programs.ts";
import { type Client, clientOf } from "../../support/test_service.ts";
import { ROOT } from "../../support/with_project_copy.ts";

/** The part of systemd that the scripts use, with two of the units. */
const SYSTEMCTL = `#!/bin/sh
verb=$1
shift
case \${1:-} in
  --quiet) exec >/dev/null; shift ;;
  --*) shift ;;
esac
unit=\${1:-animal-store}
case $unit in
  animal-store) command='pets start' pid_file=BASE/pid ;;
  animal-store-backup-follow)
    command='pets backup BASE/data-backup/log.jsonl --follow' pid_file=BASE/follower_pid ;;
esac
stop() {
  is_running || return 0
  kill "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
  rm $pid_file
}
is_running() {
  [ -e $pid_file ] || return 1
  pid=$(cat $pid_file)
  kill -0 "$pid" 2>/dev/null
}
start() {
  if is_running; then return 0; fi
  rm -f $pid_file
  serve </dev/null >>BASE/log 2>&1 &
  until [ -s $pid_file ]; do sleep 0.01; done
}
# Waits for the service. Otherwise kill -0 succeeds until process 1 has waited for it, in some containers for two seconds.
serve() {
  NEW_STORE=refuse $command &
  echo $! >$pid_file
  wait
}
case $verb in
  stop) stop ;;
  start) start ;;
  enable) start && touch BASE/enabled_$unit ;;
  restart) stop; start ;;
  is-active) if is_running; then echo active; else echo inactive; exit 3; fi ;;
  is-enabled) [ -e BASE/enabled_$unit ] ;;
  cat) for name; do cat BASE/units/$name; done ;;
esac
`;

/** Asks twenty times a second, where curl waits for a second, so that a change of the version takes less time. */
const CURL = `#!/bin/sh
set -f
PATH=\${PATH#*:}
tries=1
case "$*" in *--retry*) tries=1200 ;; esac
once=$(echo "$*" | sed 's/--retry-all-errors//; s/--retry-delay [0-9]*//; s/--retry [0-9]*//')
until curl --fail $once; do
  tries=$((tries - 1))
  [ $tries -gt 0 ] || exit 22
  sleep 0.05
done
`;

/** A script or commands of the manual, with the paths of an installation in a folder, as the user of the test. */
export function movedTo(folder: string, script: string): string {
  return script
    .replaceAll(/\/(etc|opt)\/(?=animal-store|systemd)/g, `${folder}/$1/`)
    .replaceAll("/var/lib/animal-store", `${folder}/data`)
    .replaceAll("/usr/local", folder)
    .replaceAll("-o animal-store -g animal-store ", "")
    .replace("case $(id -un) in", "case root in")
    .replace(/as="setpriv .*"/, "as=");
}

/** What bash reads before it runs a script: it notes each line, and may end there as SIGKILL ends it. */
export const KILLER = `
set -T
trap 'echo $LINENO >>"$LINES_FILE"; if [ "$LINENO" = "\${KILL_AT:-}" ]; then kill -KILL $$; fi' DEBUG
`;

/** The script `pets-upgrade`, with a service that writes and is not ready. */
export function neverReadyAfter(writing: string, script: string): string {
  const line = /(?<=^ {2}systemctl start animal-store\n) {2}is_ready .*$/m;
  assert(line.test(script));
  return script.replace(line, `  ${writing}false`);
}

/**
 * The installation of the manual, in a temporary folder: its paths, and the scripts of `scripts/deploy`, which run as
 * the user of the test. `systemctl` starts and stops the service without systemd, and `curl` does not wait long.
 */
export class Installation implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(settings: string[]): Promise<Installation> {
    const installation = new Installation(await Deno.realPath(await Deno.makeTempDir()));
    const { folder } = installation;
    for (const name of ["bin", "etc", "opt", "data", "units"]) {
      await Deno.mkdir(`${folder}/${name}`);
    }
    await Deno.writeTextFile(`${folder}/etc/animal-store.env`, `${settings.join("\n")}\n`);
    for (const name of ["pets", "pets-upgrade"]) {
      const script = await Deno.readTextFile(`${ROOT}scripts/deploy/${name}`);
      const moved = movedTo(folder, script)
        .replaceAll(`${folder}/bin/deno`, Deno.execPath())
        .replace(`${folder}/bin/node`, NODE);
      await Deno.writeTextFile(`${folder}/bin/${name}`, moved, { mode: 0o755 });
    }
    for (const { name } of Deno.readDirSync(`${ROOT}scripts/deploy`)) {
      if (!name.endsWith(".service")) continue;
      const unit = await Deno.readTextFile(`${ROOT}scripts/deploy/${name}`);
      await Deno.writeTextFile(`${folder}/units/${name}`, movedTo(folder, unit));
    }
    const systemctl = SYSTEMCTL.replaceAll("BASE", folder);
    await Deno.writeTextFile(`${folder}/bin/systemctl`, systemctl, { mode: 0o755 });
    await Deno.writeTextFile(`${folder}/bin/curl`, CURL, { mode: 0o755 });
    return installation;
  }

  /** Installs a version, whose files are in another folder. */
  async install(version: string, project: string): Promise<void> {
    await Deno.symlink(project, `${this.folder}/opt/animal-store-${version}`);
  }

  /** Adds the version to the settings. */
  async use(version: string): Promise<void> {
    const line = `ANIMAL_STORE=${this.folder}/opt/animal-store-${version}\n`;
    await Deno.writeTextFile(`${this.folder}/etc/animal-store.env`, line, { append: true });
  }

  /** Installs versions, and starts the first one on a free port. Resolves to its address, and a client with a key. */
  async serve(
    versions: [name: string, project: string][],
    host = "127.0.0.1",
  ): Promise<{ address: string; token: string; client: Client }> {
    const [[first]] = versions;
    const port = freePort();
    const lines = `KV_PATH=${this.folder}/data/pets.sqlite3\nHOST=${host}\nPORT=${port}\n`;
    await Deno.writeTextFile(`${this.folder}/etc/animal-store.env`, lines);
    for (const [name, project] of versions) await this.install(name, project);
    await this.use(first);
    const token = (await this.expect("pets keys issue --label test && systemctl start")).trim();
    const address = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
    await this.expect(`curl -s --retry 60 ${address}/readyz`);
    const client = clientOf(token, (path, init) => fetch(address + path, init));
    return { address, token, client };
  }

  get settings(): Promise<string> {
    return Deno.readTextFile(`${this.folder}/etc/animal-store.env`);
  }

  /** Runs a command line, in a shell. */
  async run(line: string): Promise<{ code: number; stdout: string; stderr: string }> {
    const PATH = `${this.folder}/bin:${Deno.env.get("PATH")}`;
    const env = { PATH, NO_COLOR: "1" };
    // The files keep what they got: a service that goes on inherits them, so pipes would stay open.
    const out = `${this.folder}/out`;
    const args = ["-c", `{ ${line}\n} >${out} 2>${out}.errors`];
    const { code } = await new Deno.Command("sh", { args, env, cwd: "/" }).output();
    const [stdout, stderr] = await Promise.all(
      [out, `${out}.errors`].map((file) => Deno.readTextFile(file)),
    );
    return { code, stdout, stderr };
  }

  /** Runs a command line that must succeed, and resolves to its standard output. */
  async expect(line: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(line);
    assertEquals(code, 0, `${line}: ${stdout}${stderr}`);
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("systemctl stop; systemctl stop animal-store-backup-follow");
    await Deno.remove(this.folder, { recursive: true });
  }
}
