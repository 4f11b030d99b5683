import * as apache_arrow from 'apache-arrow';
import { C as CrossesAs, c as crossesAs } from './types-crossing.js';

/** Kinds whose values form a typed array. */
declare const numberKinds: readonly ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"];
type NumberKind = (typeof numberKinds)[number];
/** The kinds of a list's items. */
type ItemKind = NumberKind | "bool" | "text";
/** Units of a timestamp, counted since 1970-01-01T00:00Z. */
declare const units: readonly ["s", "ms", "us", "ns"];
/** Unit of a timestamp: seconds, milliseconds, microseconds or nanoseconds. */
type TimeUnit = (typeof units)[number];
/** A column as data. It crosses with a table, and other languages read it. */
type Shape = {
    readonly name: string;
    readonly nullable: boolean;
} & KindShape;
type KindShape = {
    readonly kind: NumberKind | "bool" | "bytes" | "date";
} | {
    readonly kind: "text";
    readonly dictionary: boolean;
} | {
    readonly kind: "timestamp";
    readonly unit: TimeUnit;
} | {
    readonly kind: "list";
    readonly of: ItemKind;
} | {
    readonly kind: "struct";
    readonly columns: readonly Shape[];
};

/**
 * One chunk's share of a column, as raw memory. Use it for loops without a call per row.
 *
 * The arrays are views of the table's memory and stay valid as long as the table. Null rows contain 0 or an empty value. Use `isNull` to
 * detect them.
 */
interface Part {
    readonly length: number;
    /** Returns whether a row is null. `row` counts from the chunk's first row. */
    isNull(row: number): boolean;
}
/** Row `i` is `values[i]`. */
interface NumberPart<Values> extends Part {
    readonly values: Values;
}
/** Row `i` is bit `bitOffset + i`, least significant bit of a byte first. */
interface BitPart extends Part {
    readonly bits: Uint8Array;
    readonly bitOffset: number;
}
/** Row `i` is `data[offsets[i]]` up to `data[offsets[i + 1]]`. */
interface BytesPart extends Part {
    readonly offsets: Int32Array;
    readonly data: Uint8Array;
}
/** Row `i` is `dictionary[codes[i]]`. The first use decodes the dictionary. */
interface CodePart extends Part {
    readonly codes: Int32Array;
    readonly dictionary: readonly string[];
}
/** A sequence of texts: text `i` is `data[offsets[i]]` up to `data[offsets[i + 1]]`, as UTF-8. */
interface Texts {
    readonly offsets: Int32Array;
    readonly data: Uint8Array;
}
/** Row `i` is `values[offsets[i]]` up to `values[offsets[i + 1]]`. Booleans are bits, texts are {@link Texts}. */
interface ListPart<Values> extends Part {
    readonly offsets: Int32Array;
    readonly values: Values;
}

/** One column of one chunk, for reads by row. Rows count from the chunk's first row. */
interface Vector {
    readonly validity: Bitmap | undefined;
    /** Returns the value of a non-null row. Callers keep `row` inside the chunk. Throws if the memory is gone or malformed. */
    get(row: number): unknown;
    /** Returns a run of rows as raw memory. */
    part(start: number, rows: number): Part;
}
/** Base class of all vectors. Structured clone rejects any object that contains a vector, before it copies memory. */
declare class Unsendable {
    readonly cannotBeSent: symbol;
}
/** Bits, least significant first. */
declare class Bitmap {
    readonly bytes: Uint8Array;
    constructor(bytes: Uint8Array);
    get(at: number): boolean;
}

/** One block of a table's memory. Tables that are slices of one another share chunks. */
declare class Chunk {
    #private;
    readonly data: ArrayBuffer;
    readonly rows: number;
    /**
     * Takes ownership of the buffer. Copies nothing and reads only the header. Throws `protocol` or `released`.
     *
     * An eager version of the constructor also opened the columns: a table of 1526 chunks then blocked its receiver for 79 ms (cold, on a
     * busy machine).
     */
    constructor(data: ArrayBuffer, shapes: readonly Shape[], buffers?: number);
    /**
     * The columns. The first access opens them: O(columns).
     *
     * Throws `protocol` if the chunk does not hold these columns, and `released` if the memory was moved away or released.
     */
    get vectors(): readonly Vector[];
    /** Frees the memory. All its views are then empty. See {@link free}. */
    release(): void;
}

/** The form in which a table crosses. Structured clone, `postMessage` and IndexedDB accept it. */
interface TableMessage {
    readonly version: 1;
    readonly columns: readonly Shape[];
    readonly chunks: readonly {
        readonly data: ArrayBuffer;
        readonly start: number;
        readonly rows: number;
    }[];
}
/** A run of rows of a chunk. */
interface Segment {
    readonly chunk: Chunk;
    readonly start: number;
    readonly rows: number;
}

declare const inChunk = "clearway:row";
declare const atRow: unique symbol;
/** A row without its columns: the chunk's vectors and the position in the chunk. */
interface RowView {
    [inChunk]: readonly Vector[];
    [atRow]: number;
}
type RowClass = new (vectors: readonly Vector[], row: number) => RowView;

/**
 * A cursor over the rows of one chunk.
 *
 * The caller moves the cursor by the chunk's own row numbers. The cursor never continues into another chunk. If a loop could do so, even
 * rarely, the engine would keep the loop's sum in memory in every step (spec/decisions).
 */
declare class ChunkCursor<R> {
    /** The table's row number of this chunk's row 0. */
    readonly first: number;
    /** The number of rows. */
    readonly length: number;
    private readonly start;
    private readonly row;
    /** Throws `released` and `protocol`, like the first read of a chunk. */
    constructor({ chunk, start, rows }: Segment, first: number, MovingRow: RowClass);
    /**
     * Moves to a row from 0 to `length - 1`, and returns it.
     *
     * The result is the same object each time. Allocates nothing. If `row` is outside that range or not a whole number, reading a column
     * throws. A struct throws only if one of its own columns is read.
     */
    at(row: number): R;
}

/** The types of a column: a read value, a written value, the whole column as one array, and one chunk's part. */
interface FieldTypes {
    read: unknown;
    write: unknown;
    flat: unknown;
    part: Part;
}
declare const fieldTypes: unique symbol;
/** The type of a column: `u32`, `text()`, `nullable(bool)` and so on. */
interface Field<Types extends FieldTypes = FieldTypes> {
    /** Only for the compiler. */
    readonly [fieldTypes]: Types;
}
/** Named columns. */
type Fields = Readonly<Record<string, Field>>;
type Simple<Read, Flat, P extends Part, Write = Read> = Field<{
    read: Read;
    write: Write;
    flat: Flat;
    part: P;
}>;
type Numbers<Values> = Simple<number, Values, NumberPart<Values>>;
type BigInts<Values> = Simple<bigint, Values, NumberPart<Values>>;
/** Whole numbers, -128 to 127. A value outside this range or with a fraction is rejected; it never wraps around. */
declare const i8: Numbers<Int8Array<ArrayBufferLike>>;
/** Whole numbers of 16 bits, signed. */
declare const i16: Numbers<Int16Array<ArrayBufferLike>>;
/** Whole numbers of 32 bits, signed. */
declare const i32: Numbers<Int32Array<ArrayBufferLike>>;
/** Whole numbers of 64 bits, signed, as `bigint`. */
declare const i64: BigInts<BigInt64Array<ArrayBufferLike>>;
/** Whole numbers, 0 to 255. */
declare const u8: Numbers<Uint8Array<ArrayBufferLike>>;
/** Whole numbers of 16 bits, unsigned. */
declare const u16: Numbers<Uint16Array<ArrayBufferLike>>;
/** Whole numbers of 32 bits, unsigned. */
declare const u32: Numbers<Uint32Array<ArrayBufferLike>>;
/** Whole numbers of 64 bits, unsigned, as `bigint`. */
declare const u64: BigInts<BigUint64Array<ArrayBufferLike>>;
/** Single-precision numbers. Written values are rounded to the nearest one. */
declare const f32: Numbers<Float32Array<ArrayBufferLike>>;
/** JavaScript's own numbers (double precision). */
declare const f64: Numbers<Float64Array<ArrayBufferLike>>;
/** True or false, stored in one bit each. */
declare const bool: Simple<boolean, boolean[], BitPart>;
/** Bytes. A read returns a view of the table's memory, not a copy. The view is valid as long as the table. */
declare const bytes: Simple<Uint8Array, Uint8Array[], BytesPart>;
/**
 * Text, as UTF-8; lone surrogates become U+FFFD.
 *
 * With `dictionary`, each chunk stores every distinct text once, and rows store the text's number. Use it for columns with few distinct
 * values: each text is then decoded once per chunk.
 */
declare function text(options: {
    dictionary: true;
}): Simple<string, string[], CodePart>;
declare function text(options?: {
    dictionary?: false;
}): Simple<string, string[], BytesPart>;
/**
 * A moment, counted in `unit` (default `"ms"`) since 1970 in UTC.
 *
 * Reads return a number of units (`us` is exact until the year 2255), or a `bigint` for `ns`. Writes take the same type, or a `Date`
 * that is a whole number of units.
 */
declare function timestamp(options: {
    unit: "ns";
}): Simple<bigint, BigInt64Array, NumberPart<BigInt64Array>, bigint | Date>;
declare function timestamp(options?: {
    unit?: "s" | "ms" | "us";
}): Simple<number, number[], NumberPart<BigInt64Array>, number | Date>;
/**
 * A calendar day without a time or time zone: a whole number of days since 1970-01-01, like Arrow's Date32.
 *
 * Writes take that number, or a `Date` at midnight in UTC, such as `new Date(days * 86_400_000)`.
 */
declare const date: Simple<number, Int32Array, NumberPart<Int32Array>, number | Date>;
/** Makes a column nullable. Reads then may return `null`, and writes also take `null` and `undefined`. */
declare function nullable<T extends FieldTypes>(of: Field<T>): Field<{
    read: T["read"] | null;
    write: T["write"] | null | undefined;
    flat: (T["read"] | null)[];
    part: T["part"];
}>;
/**
 * A list per row, of numbers, booleans, or texts without a dictionary.
 *
 * A read returns numbers as a typed array that views the table's memory. A read returns booleans and texts as a new array each time.
 */
declare function list<T extends {
    read: number | bigint | boolean | string;
    write: unknown;
    flat: unknown;
    part: NumberPart<unknown> | BitPart | BytesPart;
}>(of: Field<T>): Simple<T["flat"], T["flat"][], ListPart<T["part"] extends BitPart ? Uint8Array : T["part"] extends BytesPart ? Texts : T["flat"]>, ArrayLike<T["write"]>>;
/** Columns inside a column. */
declare function struct<F extends Fields>(fields: F): Simple<RowOf<F>, RowOf<F>[], Part, WriteOf<F>>;
/** A row's type for readers. */
type RowOf<F extends Fields> = {
    readonly [Name in keyof F]: ReadOf<F[Name]>;
};
/** A row's type for writers. Nullable columns may be omitted. */
type WriteOf<F extends Fields> = {
    readonly [Name in keyof F as undefined extends TypesOf<F[Name]>["write"] ? never : Name]: TypesOf<F[Name]>["write"];
} & {
    readonly [Name in keyof F as undefined extends TypesOf<F[Name]>["write"] ? Name : never]?: TypesOf<F[Name]>["write"];
};
/** The type of a column's read values. */
type ReadOf<F> = TypesOf<F>["read"];
type TypesOf<F> = F extends Field<infer Types> ? Types : never;

/** The runs of rows of a table, and the positions of rows in them. */
declare class Segments {
    #private;
    readonly list: readonly Segment[];
    readonly length: number;
    constructor(list: readonly Segment[]);
    /** Returns a row's position, or undefined if there is no such row. Negative rows count from the end. Allocates the result. */
    find(row: number): {
        chunk: Chunk;
        row: number;
    } | undefined;
    /** Returns the runs of rows `from` up to `to`, both within the table. Copies nothing. */
    cut(from: number, to: number): Segments;
}

/** One column of a table. It stores no values, but reads the table's memory. Reads throw `released` if that memory is gone. */
declare class Column<F extends Field = Field> extends Unsendable {
    #private;
    readonly name: string;
    readonly length: number;
    constructor(segments: Segments, shape: Shape, at: number);
    /**
     * The column's memory, one part per chunk: the fastest way to read it.
     *
     * Copies nothing. The arrays are views that stay valid as long as the table. They must not be posted or moved.
     */
    get chunks(): TypesOf<F>["part"][];
    /** Returns a row's value, or `undefined` if there is no such row. As in `Array.at`, negative rows count from the end. */
    get(row: number): TypesOf<F>["read"] | undefined;
    /** Copies the whole column. Returns a typed array for numbers that are not nullable, otherwise an array of values. */
    toArray(): TypesOf<F>["flat"];
    /** Iterates over the values in the order of the rows. */
    [Symbol.iterator](): IterableIterator<TypesOf<F>["read"]>;
}

/** A table of the optional package `apache-arrow`. The type is `any` if that package is not installed. */
/** @ts-ignore: an optional peer */
type ArrowTable = apache_arrow.Table;

/** A row that moves. Its properties are its own and have fixed names, so engines know each property's type. */
interface Cursor {
    $row: number;
    $vectors: readonly Vector[];
    $enter(vectors: readonly Vector[], row: number): void;
}
type CursorClass = new () => Cursor;

/** The rows to convert into objects. */
interface ObjectWindow {
    /** The first row; default 0. */
    from?: number;
    /** The row after the last one. Default: the table's length. */
    to?: number;
    /** The maximum number of objects; a larger window throws. Default: 10,000. */
    rowsMax?: number;
}
/**
 * Rows in columns, in chunks. A table is immutable.
 *
 * A table crosses threads without decoding: as a task's result, as a stream value, or as an argument. `move(table)` moves an argument; a
 * bare table is copied. After a move the sender has none of the memory, and its reads throw `released`.
 */
declare class Table<R extends RecordType = RecordType> implements Iterable<Row<R>> {
    #private;
    /** The message that crosses. The constructor makes it an own property, because structured clone reads only own properties. */
    readonly "clearway:records": TableMessage;
    /** Writers and transports make tables. See {@link RecordType}. */
    constructor(schema: R, segments: Segments);
    /** The number of rows. It stays known after the memory is gone. */
    get length(): number;
    get schema(): R;
    /**
     * The number of bytes of the table's chunks, or 0 after they are gone. A chunk counts whole, even if this table is only a slice of it.
     */
    get byteLength(): number;
    /**
     * Returns a row, or `undefined` if there is no such row. As in `Array.at`, negative rows count from the end.
     *
     * The row is a separate object. Reading one of its properties reads the table's memory.
     */
    at(row: number): Row<R> | undefined;
    /**
     * Iterates over the rows with one cursor, the same object each time. This is the fast way.
     *
     * Do not keep the cursor. Copy the values that you need, or use `for (const row of table)`, because its rows stay valid.
     */
    scan(): IterableIterator<Row<R>, undefined>;
    /**
     * Returns a cursor for each chunk: the fastest way to read row by row.
     *
     * The caller moves each cursor by row number in an inner loop. Rows count from each chunk's first row. Allocates one cursor per chunk,
     * when the loop reaches the chunk.
     */
    cursors(): IterableIterator<ChunkCursor<Row<R>>, undefined>;
    /** Iterates over the rows. Each is a separate object that stays valid as long as the table. */
    [Symbol.iterator](): IterableIterator<Row<R>, undefined>;
    /** Returns a column. Throws `invalid-argument` if the table has no column with that name. Copies nothing. */
    column<Name extends keyof FieldsOf<R> & string>(name: Name): Column<FieldsOf<R>[Name]>;
    /**
     * Returns the rows `from` up to `to`, counted like `Array.slice`.
     *
     * Copies nothing. The slice shares its chunks with this table, so moving or releasing one of them takes the memory of both.
     */
    slice(from?: number, to?: number): Table<R>;
    /**
     * Returns plain objects for a window of rows.
     *
     * Throws `invalid-argument` for more than `rowsMax` rows (10,000), because a million objects would block the thread for several frames.
     * Bytes and lists in the objects stay views of the table's memory.
     */
    toObjects(window?: ObjectWindow): RowOf<FieldsOf<R>>[];
    /**
     * Frees memory now, without waiting for garbage collection. Frees all chunks, or those that end at or before the row `before`.
     *
     * Afterwards every row, view and slice of that memory throws `released` or is an empty array.
     */
    release(options?: {
        before?: number;
    }): void;
    /**
     * Returns the table as a table of the package `apache-arrow`. Its vectors are views of this memory. Copies nothing.
     *
     * Throws `missing-package` if the package is not installed.
     */
    toArrow(): Promise<ArrowTable>;
    /** Returns the message that crosses: plain data with its buffers, for your own transport. Copies nothing. Throws `released`. */
    toMessage(): TableMessage;
}

/** Options of a table's writer. */
interface WriterOptions {
    /** The number of rows per chunk. The default is 65,536 in the first million rows, and 2^20 (about a million) after that. */
    rowsPerChunk?: number;
}
/** Size limits of chunks. @internal */
interface ChunkLimits {
    /** The writer closes a chunk that exceeds this number of bytes. */
    readonly closedBytes: number;
    /** The writer sums its columns after this number of bytes of texts, bytes and lists. */
    readonly growthBytes: number;
    /** The maximum number of bytes of one column. */
    readonly dataBytes: number;
    /**
     * The maximum number of bytes of all columns: the range of the directory's 32-bit offsets, minus room for the directory and the
     * padding.
     */
    readonly blockBytes: number;
}
/**
 * Collects rows and makes a table of them. A task may return or yield the writer itself; its caller gets the {@link Table}.
 *
 * Copies each row's values into columns, and each chunk once more into a block of its exact size.
 */
declare class TableWriter<R extends RecordType = RecordType> implements CrossesAs<Table<R>> {
    #private;
    readonly [crossesAs]: Table<R>;
    /** The message that crosses. The constructor makes it an own property, because structured clone reads only own properties. */
    readonly "clearway:records": TableMessage;
    /** {@link RecordType.table} makes writers. */
    constructor(schema: R, options?: WriterOptions, limits?: ChunkLimits);
    /** The number of rows added. */
    get length(): number;
    /**
     * Adds a row. Ignores properties that are not columns.
     *
     * Throws `invalid-argument` for a row that does not fit. The error names the column, the row and the value, and has `column` and `row`.
     * The writer skips that row and stays usable.
     */
    push(row: WriteOf<FieldsOf<R>>): void;
    /** Adds all rows. Stops at a row that does not fit and throws like `push`. The rows before it stay. */
    pushAll(rows: Iterable<WriteOf<FieldsOf<R>>>): void;
    /**
     * Returns the table of all rows so far, the same one each time. Afterwards the writer takes no rows and has no scratch memory.
     *
     * Throws `invalid-argument` if a getter of a row calls this.
     */
    finish(): Table<R>;
}

declare const fieldsOf: unique symbol;
/** The fields that a record was declared with. */
type FieldsOf<R> = R extends {
    readonly [fieldsOf]: infer F extends Fields;
} ? F : never;
/** A row's type for readers of a table. */
type Row<R> = RowOf<FieldsOf<R>>;
/** A row's type for writers. */
type NewRow<R> = WriteOf<FieldsOf<R>>;
/** The type of a table's rows. Two records with the same columns in the same order are equal. */
declare class RecordType<F extends Fields = Fields> {
    #private;
    readonly [fieldsOf]: F;
    /** The columns, as data. */
    readonly shapes: readonly Shape[];
    /** @internal */
    readonly Row: RowClass;
    /** {@link record} makes records. */
    constructor(shapes: readonly Shape[]);
    /** @internal Undefined if a column has the name of a cursor's property. */
    get RowCursor(): CursorClass | undefined;
    /** @internal */
    get MovingRow(): RowClass;
    /** Creates a writer of a table of such rows. Throws `invalid-argument`. */
    table(options?: WriterOptions): TableWriter<RecordType<F>>;
    /** Makes a table of these rows on the calling thread. Throws like `push`. */
    tableOf(rows: Iterable<WriteOf<F>>, options?: WriterOptions): Table<RecordType<F>>;
    /**
     * Returns the table in a received value, such as a value inside another object, or from another transport.
     *
     * O(columns + chunks). Copies nothing and takes ownership of the buffers. Throws `protocol` if the value is not a table or has other
     * columns, and `released` for memory that was moved on. If a chunk's columns are malformed, the first read of the chunk throws.
     */
    from(value: unknown): Table<RecordType<F>>;
    /**
     * Makes a table from a table of the package `apache-arrow`. Both tables must have the same columns.
     *
     * Copies each buffer once, because a table owns its memory. Throws `missing-package`, and `protocol` for other columns.
     */
    fromArrow(arrow: ArrowTable): Promise<Table<RecordType<F>>>;
}
/**
 * Declares a type of rows: `record({ rollNum: u32, name: text({ dictionary: true }) })`.
 *
 * A second call with the same columns is cheap, because it reuses the classes of the rows. Throws `invalid-argument`.
 */
declare function record<F extends Fields>(fields: F): RecordType<F>;
/** Returns the table in a received value, with any columns. See {@link RecordType.from}. */
declare function tableFrom(value: unknown): Table;
/** Makes a table from an Arrow table, with any columns. See {@link RecordType.fromArrow}. */
declare function tableFromArrow(arrow: ArrowTable): Promise<Table>;

/** Options of {@link inferRecord}. */
interface InferOptions {
    /** The number of rows, from the first on, that determine the types. Default: 100. */
    sampleRows?: number;
}
/** The type that a table's reader gets for an ordinary row's value. */
type ReadAs<T> = T extends Date ? number : T extends readonly number[] ? Float64Array : T extends undefined ? null : T extends object ? T extends ArrayBufferView | readonly unknown[] ? T : {
    readonly [Name in keyof T]: ReadAs<T[Name]>;
} : T;
/** The columns inferred for rows of type `T`. */
type InferredFields<T> = {
    readonly [Name in keyof T & string]-?: [T[Name]] extends [number] ? typeof f64 : Field<{
        read: ReadAs<T[Name]>;
        write: T[Name];
        flat: ReadAs<T[Name]>[];
        part: T[Name] extends Date ? NumberPart<BigInt64Array> : Part;
    }>;
};
/**
 * Infers a record from the first rows of some data. It is a convenience for experiments.
 *
 * - `number` becomes `f64`, whole or not, so that no later number is rejected.
 * - `bigint` becomes `i64`, and `Date` a timestamp of ms.
 * - Arrays of numbers become `list(f64)`, and arrays of texts `list(text())`.
 * - A column with null or a missing value in the sample becomes `nullable`.
 * - Texts have no dictionary.
 *
 * Throws `invalid-argument` for values that fit no column type, and for columns that have only null.
 */
declare function inferRecord<T extends object>(rows: readonly T[], options?: InferOptions): RecordType<InferredFields<T>>;
/**
 * Makes a table of ordinary rows. Infers the columns ({@link inferRecord}).
 *
 * Throws `invalid-argument` for the first row that does not match the sample: another type in a column, or an additional column. The
 * error names the row and the column.
 */
declare function tableFromRows<T extends object>(rows: readonly T[], options?: InferOptions & WriterOptions): Table<RecordType<InferredFields<T>>>;

export { ChunkCursor, Column, CrossesAs, RecordType, Table, TableWriter, bool, bytes, crossesAs, date, f32, f64, i16, i32, i64, i8, inferRecord, list, nullable, record, struct, tableFrom, tableFromArrow, tableFromRows, text, timestamp, u16, u32, u64, u8 };
export type { BitPart, BytesPart, CodePart, Field, Fields, FieldsOf, InferOptions, InferredFields, ListPart, NewRow, NumberPart, ObjectWindow, Part, Row, Shape, TableMessage, Texts, TimeUnit, WriterOptions };
