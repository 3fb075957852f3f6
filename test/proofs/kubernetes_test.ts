/** A test of scripts/deploy/kubernetes.yml with kubeconform from Go's proxy, and the schemas in a package from PyPI. */

import { globSync } from "node:fs";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { testIf } from "../support/test_if.ts";
import { expectDone, install, installFromPyPI, run } from "../support/third_party_tools.ts";
import { ROOT } from "../support/with_project_copy.ts";

const KUBECONFORM = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0";
const CACHE = `${ROOT}.cache/proofs`;

const isInstalled = await install("kubeconform", async () => {
  const env = { GOBIN: `${CACHE}/bin`, GOFLAGS: "-buildvcs=false" };
  await expectDone("go", ["install", KUBECONFORM], { env });
  await installFromPyPI(CACHE, `${ROOT}test/proofs/requirements.txt`);
});

testIf(isInstalled)(
  "kubeconform accepts kubernetes.yml, and refuses an unknown field",
  async () => {
    const pattern = "lib/*/site-packages/kubernetes_validate/*/v1.37.0-local-strict";
    const [folder] = globSync(pattern, { cwd: CACHE });
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async ({ url }) => {
        const { origin, pathname } = new URL(url);
        const schema = await Deno.readTextFile(`${CACHE}/${folder}/${pathname}`);
        // The schemas name each other by addresses of this site.
        return new Response(
          schema.replaceAll(/"(https:\/\/kubernetes\.io)?\/api\//g, `"${origin}/`),
        );
      },
    );
    const schemas = `http://127.0.0.1:${server.addr.port}/{{.ResourceKind}}{{.KindSuffix}}.json`;
    const path = `${ROOT}scripts/deploy/kubernetes.yml`;
    const check = (path: string) =>
      run(`${CACHE}/bin/kubeconform`, ["-summary", "-schema-location", schemas, path]);
    const { code, output } = await check(path);
    assertEquals(code, 0, output);
    assertStringIncludes(output, "4 resources found in 1 file - Valid: 4,");
    const text = await Deno.readTextFile(path);
    const other = await Deno.makeTempFile({ suffix: ".yml" });
    await Deno.writeTextFile(other, text.replaceAll("readOnlyRootFilesystem", "readOnlyRoot"));
    const refused = await check(other);
    await Deno.remove(other);
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.output, "Invalid: 2,");
  },
);
