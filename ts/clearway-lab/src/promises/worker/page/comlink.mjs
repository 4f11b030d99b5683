// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "comlink";

expose({ double: (value) => value * 2 });
