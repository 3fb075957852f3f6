import { testStoreContract } from "../support/store_contract.ts";
import { ModelStore } from "./model_store.ts";

testStoreContract({
  name: "ModelStore",
  open: () => Promise.resolve({ store: new ModelStore() }),
});
