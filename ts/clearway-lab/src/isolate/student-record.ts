// SPDX-License-Identifier: MIT OR Apache-2.0
import { record, text, u32 } from "clearway/records";

/** The same student as a record of `clearway/records`. Names are not deduplicated, because no two are the same. */
export const StudentRecord = record({ rollNum: u32, name: text() });
