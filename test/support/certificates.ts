import { expectDone } from "./third_party_tools.ts";

/** Makes an authority, and a certificate of it for names such as `DNS:localhost`. Resolves to the paths of the files. */
export async function makeCertificates(folder: string, names: string) {
  const [authority, certificate, key] = ["authority.crt", "server.crt", "server.key"]
    .map((name) => `${folder}/${name}`);
  await Deno.writeTextFile(`${folder}/extensions`, `subjectAltName=${names}`);
  const run = (args: string) => expectDone("openssl", args.split(" "));
  const make = "-newkey rsa:2048 -nodes -subj";
  const [authorityKey, request] = [`${folder}/authority.key`, `${folder}/server.csr`];
  await run(`req -x509 ${make} /CN=authority -keyout ${authorityKey} -out ${authority} -days 2`);
  await run(`req ${make} /CN=localhost -keyout ${key} -out ${request}`);
  await run(
    `x509 -req -in ${request} -CA ${authority} -CAkey ${authorityKey} -CAcreateserial ` +
      `-out ${certificate} -days 2 -extfile ${folder}/extensions`,
  );
  return { authority, certificate, key };
}
