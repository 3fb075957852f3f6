import { PROCESSES } from "../support/test_needing.ts";
import { newFile, processesOn, processOn, testStories } from "./target.ts";

testStories({ name: "of a process", needs: [PROCESSES], open: processOn(newFile) });
testStories({
  name: "of two processes on one file",
  needs: [PROCESSES],
  open: processesOn(newFile, 2),
});
