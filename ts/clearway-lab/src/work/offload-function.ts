// SPDX-License-Identifier: MIT OR Apache-2.0
// For Piscina and tinypool: a module whose exports are the tasks.
import { actions } from "../offload/action.js";

export const {
  arithmetic,
  lists,
  storage,
  storageAsync,
  network,
  networkAsync,
  mixed,
  mixedAsync,
  bimodal,
  bimodalAsync,
  spin,
  changing,
} = actions;
