// SPDX-License-Identifier: MIT OR Apache-2.0
import { ThreadWorker } from "poolifier";

export default new ThreadWorker((value) => value * 2);
