import { processOn, testStories } from "../interface/target.ts";
import { DENOKV, DenokvServer } from "../support/denokv_server.ts";

testStories({
  name: "on KV Connect",
  needs: [DENOKV.need],
  open: processOn(async (stack) => {
    const { address, env } = stack.use(await DenokvServer.start());
    return { name: address, env };
  }),
});
