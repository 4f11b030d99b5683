// SPDX-License-Identifier: MIT OR Apache-2.0
// A module for Piscina: its exports are the tasks.
import { actions } from "../arm/works/batch-actions.js";

export const { lists, storage } = actions;
