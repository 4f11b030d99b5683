// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";
import { actions } from "../arm/works/batch-actions.js";

export default expose(actions);
