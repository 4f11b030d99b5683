// SPDX-License-Identifier: MIT OR Apache-2.0
import workerpool from "workerpool";

workerpool.worker({ double: (value) => value * 2 });
