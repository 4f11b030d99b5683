// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TaskStore } from "./task-store.js";

/** The store of each compiler. webpack passes options to loaders as text, and the loader needs the store itself. */
export const storeOf = new WeakMap<object, TaskStore>();
