// SPDX-License-Identifier: MIT OR Apache-2.0
// The task of the recipe for users of Piscina.
import { createHash } from "node:crypto";
import { expose } from "clearway/worker";

// #region piscina-task
export default expose({
  hash: (bytes: Uint8Array, algorithm = "sha256") => createHash(algorithm).update(bytes).digest("hex"),
});
// #endregion piscina-task
