// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry of the one file that both devices run: a child process of the lab, or the page that the lab serves.
import { runInNode } from "./in-node.js";
import { runInPage } from "./in-page.js";

if (typeof document === "undefined") void runInNode();
else runInPage();
