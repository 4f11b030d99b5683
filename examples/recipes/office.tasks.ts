// SPDX-License-Identifier: MIT OR Apache-2.0
// #region modules-task
import { exposeAll } from "clearway/worker";
import money from "./money.tasks.js";
import words from "./words.tasks.js";

export default exposeAll({ money, words });
// #endregion modules-task
