// SPDX-License-Identifier: MIT OR Apache-2.0

/** The key under which an object holds a table as data (`clearway/records`). Structured clone keeps this key and drops the class. */
export const brand = "clearway:records";

// Tables and their writers have this key. The entries of the package are bundled separately.
const tableKey: unique symbol = Symbol.for("clearway.table");

/**
 * Marks an object as a table, or as a table's writer. The key `brand` gives its message, as an own property: structured clone reads only
 * those.
 */
export function markTable(table: object, message: () => unknown): void {
  Object.defineProperty(table, brand, { enumerable: true, get: message });
  Object.defineProperty(table, tableKey, { value: true });
}

/** Returns whether a value is a table or its writer. Does not find one among data, such as the message of a table. */
export function isTable(value: unknown): boolean {
  return value !== null && typeof value === "object" && tableKey in value;
}

/** Returns whether a value can always cross, and has no memory. The most common results are such values. */
export function isPrimitive(value: unknown): boolean {
  return value === null || (typeof value !== "object" && typeof value !== "function" && typeof value !== "symbol");
}

/** Exists only for the compiler. The key names the type of a value on the other side. */
export declare const crossesAs: unique symbol;

/** A value that arrives on the other side as another type. */
export interface CrossesAs<T> {
  readonly [crossesAs]: T;
}

// A table, and a value with instances of transfer handlers, cross as content that the other side turns back into the value. The frame says
// so, outside of the value (`transport/protocol.ts`). Nothing in a value of the app can say it.

/** How the other side reads the content of a value. The numbers are part of the wire format. */
export enum Form {
  /** As it is. */
  plain = 0,
  /** As a table (`clearway/records`). */
  table = 1,
  /** By transfer handlers (`clearway/transfer`). */
  handled = 2,
  /** As a promise of the value, whose pieces come through ports of their own. Never in a frame. */
  sliced = 3,
}

// The entries of the package are bundled separately. No value that arrives has a property with a symbol as its key.
const codedKey: unique symbol = Symbol.for("clearway.coded");

/** A value that has arrived in another form than `plain`, and is not read yet. Never leaves this thread. */
export class CodedValue {
  declare readonly [codedKey]: true;
  declare readonly form: Form;
  declare readonly content: unknown;

  // The key is no field of the class, which would then stay in bundles that do not use it.
  constructor(form: Form, content: unknown) {
    this.form = form;
    this.content = content;
    this[codedKey] = true;
  }
}

/** Returns whether a value that has arrived is not read yet. */
export function isCoded(value: unknown): value is CodedValue {
  return value !== null && typeof value === "object" && codedKey in value;
}

/** Returns a value that has arrived in this form. The reader of the content checks it. */
export function codedAs(form: Form | undefined, content: unknown): unknown {
  return form ? new CodedValue(form, content) : content;
}

/** Returns the values of a list that have arrived in these forms. */
export function allCodedAs(forms: readonly Form[] | undefined, values: readonly unknown[]): readonly unknown[] {
  return forms ? values.map((value, at) => codedAs(forms[at], value)) : values;
}

/** Returns the forms for a message, or undefined if all are plain. */
export function formsOf(forms: readonly Form[]): readonly Form[] | undefined {
  return forms.some((form) => form !== Form.plain) ? forms : undefined;
}
