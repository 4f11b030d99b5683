// SPDX-License-Identifier: MIT OR Apache-2.0
import { createContext, runInContext } from "node:vm";
import { foreignRealm } from "./realms.js";

const context = createContext({});
foreignRealm((code) => runInContext(code, context));
