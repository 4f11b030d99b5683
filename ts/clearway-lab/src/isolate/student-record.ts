// SPDX-License-Identifier: MIT OR Apache-2.0
import { record, text, u32 } from "clearway/records";

/** The same student as a record type of `clearway/records`. Its names are not deduplicated, because all of them differ. */
export const StudentRecord = record({ rollNum: u32, name: text() });
