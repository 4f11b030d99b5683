// SPDX-License-Identifier: MIT OR Apache-2.0
// A module for Piscina and tinypool: its exports are the tasks.
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
