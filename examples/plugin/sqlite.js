// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a SQLite database with the plugin native/plugins/sqlite: node sqlite.js DATABASE
import { plugins } from "../../scripts/native.mjs";

const path = plugins.c.sqlite;
const file = process.argv[2] ?? "students.db";

// #region sqlite
import { f64, i64, nullable, record, text } from "clearway/records";
import { loadPlugin } from "clearway-native";

const Student = record({ id: nullable(i64), name: nullable(text()), mark: nullable(f64) });
const utf8 = new TextEncoder();

const plugin = await loadPlugin(path);
await plugin.channel("open").send(utf8.encode(file));
const answer = await plugin.channel("query").send(utf8.encode("select id, name, mark from students order by id"));

// The answer's bytes describe the columns. Its attachment is the table's memory: no row is copied or decoded.
const columns = JSON.parse(new TextDecoder().decode(answer.bytes ?? undefined));
const data = answer.attachments[0]?.bytes?.buffer;
const rows = Number(new DataView(/** @type {ArrayBuffer} */ (data)).getUint32(4, true));
const students = Student.from({ "clearway:records": { version: 1, columns, chunks: [{ data, start: 0, rows }] } });
for (const { id, name, mark } of students) console.log(id, name, mark);
answer.release();
// #endregion sqlite

await plugin
  .channel("query")
  .send(utf8.encode("delete from students"))
  .catch((error) => console.log(error.message));
await plugin
  .channel("query")
  .send(utf8.encode("select absent from students"))
  .catch((error) => console.log(error.message));
await plugin.close();
