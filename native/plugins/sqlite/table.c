// SPDX-License-Identifier: MIT OR Apache-2.0
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

static outcome add(bytes *to, const void *data, size_t size) {
  if (size > TABLE_BYTES_MAX || to->size + size > TABLE_BYTES_MAX) return TOO_LARGE;
  if (to->size + size > to->room) {
    size_t room = to->room == 0 ? 256 : to->room * 2;
    while (room < to->size + size) room *= 2;
    uint8_t *grown = realloc(to->data, room);
    if (grown == NULL) return NO_MEMORY;
    to->data = grown;
    to->room = room;
  }
  if (size > 0) memcpy(to->data + to->size, data, size);
  to->size += size;
  return DONE;
}

// Returns a column's kind by its declared type, as SQLite's affinities do. A column that is an expression has no declared type, so the type
// of its first value counts.
static kind kind_of(sqlite3_stmt *statement, int at) {
  const char *declared = sqlite3_column_decltype(statement, at);
  if (declared == NULL) {
    const int type = sqlite3_data_count(statement) == 0 ? SQLITE_NULL : sqlite3_column_type(statement, at);
    return type == SQLITE_INTEGER ? KIND_I64 : type == SQLITE_FLOAT ? KIND_F64 : KIND_TEXT;
  }
  if (sqlite3_strlike("%INT%", declared, 0) == 0) return KIND_I64;
  const int real = sqlite3_strlike("%REAL%", declared, 0) == 0 || sqlite3_strlike("%FLOA%", declared, 0) == 0 ||
                   sqlite3_strlike("%DOUB%", declared, 0) == 0;
  return real ? KIND_F64 : KIND_TEXT;
}

outcome table_open(row_table *table, sqlite3_stmt *statement) {
  const int count = sqlite3_column_count(statement);
  *table = (row_table){.columns = calloc((size_t)count + 1, sizeof(column)), .columns_count = (uint32_t)count};
  if (table->columns == NULL) return NO_MEMORY;
  for (int at = 0; at < count; at++) {
    column *to = &table->columns[at];
    to->name = sqlite3_column_name(statement, at);
    if (to->name == NULL) return NO_MEMORY;
    to->kind = kind_of(statement, at);
    const int32_t zero = 0;
    if (to->kind == KIND_TEXT && add(&to->offsets, &zero, sizeof zero) != DONE) return NO_MEMORY;
  }
  return DONE;
}

static outcome add_value(column *to, sqlite3_stmt *statement, int at, int is_null) {
  if (to->kind == KIND_I64) {
    const int64_t value = sqlite3_column_int64(statement, at);
    return add(&to->values, &value, sizeof value);
  }
  if (to->kind == KIND_F64) {
    const double value = sqlite3_column_double(statement, at);
    return add(&to->values, &value, sizeof value);
  }
  const unsigned char *text = sqlite3_column_text(statement, at); // null for null, and after a failed conversion
  if (text == NULL && !is_null)
    return sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM ? NO_MEMORY : TOO_LARGE;
  const outcome added = add(&to->values, text, text == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, at));
  const int32_t end = (int32_t)to->values.size;
  return added == DONE ? add(&to->offsets, &end, sizeof end) : added;
}

outcome table_add(row_table *table, sqlite3_stmt *statement) {
  const uint32_t row = table->rows;
  table->bytes = 0;
  for (uint32_t at = 0; at < table->columns_count; at++) {
    column *to = &table->columns[at];
    const uint32_t is_null = sqlite3_column_type(statement, (int)at) == SQLITE_NULL;
    const uint8_t none = 0;
    if (row % 8 == 0) {
      const outcome added = add(&to->validity, &none, 1);
      if (added != DONE) return added;
    }
    if (!is_null) to->validity.data[row / 8] |= (uint8_t)(1 << row % 8);
    to->nulls += is_null;
    const outcome added = add_value(to, statement, (int)at, (int)is_null);
    if (added != DONE) return added;
    table->bytes += to->validity.size + to->values.size + to->offsets.size;
    if (table->bytes > TABLE_BYTES_MAX) return TOO_LARGE;
  }
  table->rows++;
  return DONE;
}

void table_free(row_table *table) {
  for (uint32_t at = 0; table->columns != NULL && at < table->columns_count; at++) {
    free(table->columns[at].validity.data);
    free(table->columns[at].values.data);
    free(table->columns[at].offsets.data);
  }
  free(table->columns);
}

// Passes each buffer of the chunk to `visit`, in Arrow's order, with its place in the chunk. Returns the end of the last one.
static size_t each_buffer(const row_table *table, void (*visit)(uint8_t *, uint32_t, size_t, const bytes *), uint8_t *to) {
  static const bytes none = {0};
  uint32_t buffers = 0;
  for (uint32_t at = 0; at < table->columns_count; at++) buffers += table->columns[at].kind == KIND_TEXT ? 3 : 2;
  size_t end = 16 + 8 * (size_t)buffers;
  uint32_t number = 0;
  for (uint32_t at = 0; at < table->columns_count; at++) {
    const column *from = &table->columns[at];
    const bytes *parts[] = {from->nulls > 0 ? &from->validity : &none,
                            from->kind == KIND_TEXT ? &from->offsets : &from->values, &from->values};
    for (int part = 0; part < (from->kind == KIND_TEXT ? 3 : 2); part++) {
      const size_t start = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      if (visit != NULL) visit(to, number, start, parts[part]);
      number++;
      end = start + parts[part]->size;
    }
  }
  if (to != NULL) {
    const uint32_t head[] = {table->rows, number, 0};
    memcpy(to, "CWR1", 4);
    memcpy(to + 4, head, sizeof head);
  }
  return end;
}

static void copy(uint8_t *to, uint32_t number, size_t start, const bytes *from) {
  const uint32_t place[] = {(uint32_t)start, (uint32_t)from->size};
  memcpy(to + 16 + 8 * (size_t)number, place, sizeof place);
  if (from->size > 0) memcpy(to + start, from->data, from->size);
}

size_t table_chunk_size(const row_table *table) { return each_buffer(table, NULL, NULL); }

void table_write_chunk(const row_table *table, uint8_t *to) { each_buffer(table, copy, to); }

static outcome add_text(bytes *to, const char *text) { return add(to, text, strlen(text)); }

static outcome add_name(bytes *to, const char *name) {
  outcome added = DONE;
  for (; *name != '\0' && added == DONE; name++) {
    char escaped[8] = {*name};
    if (*name == '"' || *name == '\\') snprintf(escaped, sizeof escaped, "\\%c", *name);
    if ((unsigned char)*name < 0x20) snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned char)*name);
    added = add_text(to, escaped);
  }
  return added;
}

outcome table_write_columns(const row_table *table, bytes *to) {
  static const char *const kinds[] = {
      "\"kind\":\"i64\"}", "\"kind\":\"f64\"}", "\"kind\":\"text\",\"dictionary\":false}"};
  outcome added = add_text(to, "[");
  for (uint32_t at = 0; at < table->columns_count && added == DONE; at++) {
    added = add_text(to, at == 0 ? "{\"name\":\"" : ",{\"name\":\"");
    if (added == DONE) added = add_name(to, table->columns[at].name);
    if (added == DONE) added = add_text(to, "\",\"nullable\":true,");
    if (added == DONE) added = add_text(to, kinds[table->columns[at].kind]);
  }
  return added == DONE ? add_text(to, "]") : added;
}
