// SPDX-License-Identifier: MIT OR Apache-2.0
import { offload } from "clearway/offload";

const what = "captured";
const stack: string = await offload(() => {
  const inner = (): Error => new Error(what); // line 6, column 30
  return inner().stack ?? "";
});
console.log(stack);
