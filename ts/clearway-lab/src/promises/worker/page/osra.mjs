// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "osra";

expose({ double: (value) => value * 2 }, { transport: globalThis });
