import * as apache_arrow from 'apache-arrow';
import { C as CrossesAs, c as crossesAs } from './types-crossing.js';

/** Kinds whose values stand side by side in a typed array. */
declare const numberKinds: readonly ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"];
type NumberKind = (typeof numberKinds)[number];
/** What a list may hold. */
type ItemKind = NumberKind | "bool" | "text";
/** Ticks a timestamp counts, since 1970-01-01T00:00Z. */
declare const units: readonly ["s", "ms", "us", "ns"];
type TimeUnit = (typeof units)[number];
/** A column as data: what crosses with a table, and what other languages read. */
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
 * One chunk's share of a column, as the memory itself: for loops that want no call a row. Its arrays are views of the
 * table's memory, valid as long as the table is; rows that are null hold 0 or nothing there, and `isNull` tells.
 */
interface Part {
    readonly length: number;
    isNull(row: number): boolean;
}
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
/** Row `i` is `dictionary[codes[i]]`. The dictionary is decoded when it is first asked for. */
interface CodePart extends Part {
    readonly codes: Int32Array;
    readonly dictionary: readonly string[];
}
/** Texts one after the other: text `i` is `data[offsets[i]]` up to `data[offsets[i + 1]]`, as UTF-8. */
interface Texts {
    readonly offsets: Int32Array;
    readonly data: Uint8Array;
}
/** Row `i` is `values[offsets[i]]` up to `values[offsets[i + 1]]`; booleans are bits, texts are {@link Texts}. */
interface ListPart<Values> extends Part {
    readonly offsets: Int32Array;
    readonly values: Values;
}

/** One column of one chunk, readable row by row. Rows count from the chunk's first. */
interface Vector {
    readonly validity: Bitmap | undefined;
    /** The value of a row that is not null. Callers keep `row` inside the chunk. Throws when the memory is gone or malformed. */
    get(row: number): unknown;
    /** A run of rows as the memory itself. */
    part(start: number, rows: number): Part;
}
/** What every vector begins with: whoever sends what reads it is refused before memory is copied. */
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
     * Takes the buffer over, copies nothing and looks at its header only: a table of 1526 chunks held its receiver for
     * 79 ms (cold, on a busy machine) where this opened the columns as well. Throws `protocol`, or `released`.
     */
    constructor(data: ArrayBuffer, shapes: readonly Shape[], buffers?: number);
    /**
     * The columns, opened when first asked for: O(columns). Throws `protocol` where the chunk does not hold such columns,
     * and `released` when the memory was moved away or released.
     */
    get vectors(): readonly Vector[];
    /** Gives the memory up, whoever still has views of it: they are empty from here on. See {@link free}. */
    release(): void;
}

/** How a table crosses: data that structured clone, `postMessage` and IndexedDB take as it is. */
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
/** A row before its columns: which chunk, and where in it. */
interface RowView {
    [inChunk]: readonly Vector[];
    [atRow]: number;
}
type RowClass = new (vectors: readonly Vector[], row: number) => RowView;

/**
 * A cursor for the rows of one chunk, which the caller moves by the chunk's own row numbers. It never goes on to another
 * chunk: a loop that may do that, however seldom, keeps its sum in memory in every step (spec/decisions).
 */
declare class ChunkCursor<R> {
    /** The table's number of this chunk's row 0. */
    readonly first: number;
    /** How many rows. */
    readonly length: number;
    private readonly start;
    private readonly row;
    /** Throws `released`, and `protocol`, as the first read of a chunk does. */
    constructor({ chunk, start, rows }: Segment, first: number, MovingRow: RowClass);
    /**
     * The row `row`, from 0 up to `length`: the same object each time, moved there. Reading one that is outside, or that is no
     * whole number, throws. Allocates nothing.
     */
    at(row: number): R;
}

/** The types that go with a column: what is read, what may be written, the whole column as one array, a part of it. */
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
/** Whole numbers, -128 to 127. A value outside, or with a fraction, is refused; nothing wraps around. */
declare const i8: Numbers<Int8Array<ArrayBufferLike>>;
/** Whole numbers of 16 bits, signed. */
declare const i16: Numbers<Int16Array<ArrayBufferLike>>;
/** Whole numbers of 32 bits, signed. */
declare const i32: Numbers<Int32Array<ArrayBufferLike>>;
/** Whole numbers of 64 bits, signed, as `bigint`. */
declare const i64: BigInts<BigInt64Array<ArrayBufferLike>>;
/** Whole numbers, 0 to 255. */
declare const u8: Numbers<Uint8Array<ArrayBufferLike>>;
/** Whole numbers of 16 bits, 0 and up. */
declare const u16: Numbers<Uint16Array<ArrayBufferLike>>;
/** Whole numbers of 32 bits, 0 and up. */
declare const u32: Numbers<Uint32Array<ArrayBufferLike>>;
/** Whole numbers of 64 bits, 0 and up, as `bigint`. */
declare const u64: BigInts<BigUint64Array<ArrayBufferLike>>;
/** Numbers of single precision; what is written is rounded to the nearest. */
declare const f32: Numbers<Float32Array<ArrayBufferLike>>;
/** JavaScript's own numbers. */
declare const f64: Numbers<Float64Array<ArrayBufferLike>>;
/** True or false, a bit each. */
declare const bool: Simple<boolean, boolean[], BitPart>;
/** Bytes. What is read is a view of the table's memory, not a copy: it is valid as long as the table is. */
declare const bytes: Simple<Uint8Array, Uint8Array[], BytesPart>;
/**
 * Text, as UTF-8; lone surrogates become U+FFFD. With `dictionary`, each different text is kept once a chunk, and rows
 * hold its number: right for columns with few different values; reading one then decodes nothing after the first time.
 */
declare function text(options: {
    dictionary: true;
}): Simple<string, string[], CodePart>;
declare function text(options?: {
    dictionary?: false;
}): Simple<string, string[], BytesPart>;
/**
 * A moment, counted in `unit` (default `"ms"`) since 1970 in UTC. Read as a number of units (`us` is exact to the year
 * 2255), `ns` as `bigint`; written as that or as a `Date`, which must be a whole number of units.
 */
declare function timestamp(options: {
    unit: "ns";
}): Simple<bigint, BigInt64Array, NumberPart<BigInt64Array>, bigint | Date>;
declare function timestamp(options?: {
    unit?: "s" | "ms" | "us";
}): Simple<number, number[], NumberPart<BigInt64Array>, number | Date>;
/**
 * A day of the calendar, without a time and a time zone: a whole number of days since 1970-01-01, as Arrow's Date32. Written
 * as that, or as a `Date` at midnight in UTC; `new Date(days * 86_400_000)` is one.
 */
declare const date: Simple<number, Int32Array, NumberPart<Int32Array>, number | Date>;
/** The same with rows that have no value: `null` is read; `null` and `undefined` are written. */
declare function nullable<T extends FieldTypes>(of: Field<T>): Field<{
    read: T["read"] | null;
    write: T["write"] | null | undefined;
    flat: (T["read"] | null)[];
    part: T["part"];
}>;
/**
 * A list of numbers, booleans or texts without a dictionary in each row. Numbers are read as a typed array that views the
 * table's memory, the others as an array, made each time.
 */
declare function list<T extends {
    read: number | bigint | boolean | string;
    write: unknown;
    flat: unknown;
    part: NumberPart<unknown> | BitPart | BytesPart;
}>(of: Field<T>): Simple<T["flat"], T["flat"][], ListPart<T["part"] extends BitPart ? Uint8Array : T["part"] extends BytesPart ? Texts : T["flat"]>, ArrayLike<T["write"]>>;
/** Columns in a column. */
declare function struct<F extends Fields>(fields: F): Simple<RowOf<F>, RowOf<F>[], Part, WriteOf<F>>;
/** A row as it is read. */
type RowOf<F extends Fields> = {
    readonly [Name in keyof F]: ReadOf<F[Name]>;
};
/** A row as it is written: columns that are nullable may be left out. */
type WriteOf<F extends Fields> = {
    readonly [Name in keyof F as undefined extends TypesOf<F[Name]>["write"] ? never : Name]: TypesOf<F[Name]>["write"];
} & {
    readonly [Name in keyof F as undefined extends TypesOf<F[Name]>["write"] ? Name : never]?: TypesOf<F[Name]>["write"];
};
/** What a column reads as. */
type ReadOf<F> = TypesOf<F>["read"];
type TypesOf<F> = F extends Field<infer Types> ? Types : never;

/** The runs of rows that a table is made of, and where in them a row is. */
declare class Segments {
    #private;
    readonly list: readonly Segment[];
    readonly length: number;
    constructor(list: readonly Segment[]);
    /** Where a row is; undefined outside. Counts from the end when negative. Allocates the answer. */
    find(row: number): {
        chunk: Chunk;
        row: number;
    } | undefined;
    /** The runs of rows `from` up to `to`, both inside. Copies nothing. */
    cut(from: number, to: number): Segments;
}

/** One column of a table. Holds no values: reads the table's memory. Reads throw `released` when that is gone. */
declare class Column<F extends Field = Field> extends Unsendable {
    #private;
    readonly name: string;
    readonly length: number;
    constructor(segments: Segments, shape: Shape, at: number);
    /**
     * The column as it lies in memory, a part for each chunk: the fastest way through it. Copies nothing; the arrays are
     * views that are valid as long as the table is, and not to be posted or moved.
     */
    get chunks(): TypesOf<F>["part"][];
    /** The value of a row, as {@link Array.at} counts: from the end when negative, `undefined` outside. */
    get(row: number): TypesOf<F>["read"] | undefined;
    /** A copy of the whole column: a typed array for numbers that are not nullable, else an array of values. */
    toArray(): TypesOf<F>["flat"];
    [Symbol.iterator](): IterableIterator<TypesOf<F>["read"]>;
}

/** A table of the optional package `apache-arrow`; where that is not installed, anything. */
/** @ts-ignore: an optional peer */
type ArrowTable = apache_arrow.Table;

/** A row that moves on. The properties are the object's own, under names written out: engines then know what is in each. */
interface Cursor {
    $row: number;
    $vectors: readonly Vector[];
    $enter(vectors: readonly Vector[], row: number): void;
}
type CursorClass = new () => Cursor;

/** Which rows to make into objects. */
interface ObjectWindow {
    /** The first row; default 0. */
    from?: number;
    /** The row after the last one; default the table's length. */
    to?: number;
    /** How many objects may be made at most; more throw. Default 10,000. */
    rowsMax?: number;
}
/**
 * Rows in columns, in chunks. Crosses threads with nothing decoded: as a task's result, as a value of a stream, and as an
 * argument, where `move(table)` moves it and a bare table is copied. Its sender then holds nothing of it any more, and
 * reading there throws `released`. Not to be changed.
 */
declare class Table<R extends RecordType = RecordType> implements Iterable<Row<R>> {
    #private;
    /** What crosses. An own property, made in the constructor: structured clone takes no others. */
    readonly "clearway:records": TableMessage;
    /** Tables are made by writers, and received; see {@link RecordType}. */
    constructor(schema: R, segments: Segments);
    /** How many rows. Known also when the memory is gone. */
    get length(): number;
    get schema(): R;
    /** Bytes of memory that its chunks take, whole ones, also where this is a slice of them. 0 when they are gone. */
    get byteLength(): number;
    /**
     * A row, as `Array.at` counts: from the end when negative, `undefined` outside. The row is an object of its own that
     * reads the table's memory when one of its properties is read.
     */
    at(row: number): Row<R> | undefined;
    /**
     * Goes through the rows with one cursor, the same object each time: the fast way. Do not keep it; copy what you need,
     * or use `for (const row of table)`, whose rows stay.
     */
    scan(): IterableIterator<Row<R>, undefined>;
    /**
     * A cursor for each chunk, to be moved by number in a loop inside of a loop: the fastest way row by row. Rows count from
     * each chunk's first. Allocates a cursor a chunk, when that chunk's turn comes.
     */
    cursors(): IterableIterator<ChunkCursor<Row<R>>, undefined>;
    /** Goes through the rows, each an object of its own that stays valid as long as the table. */
    [Symbol.iterator](): IterableIterator<Row<R>, undefined>;
    /** A column. Throws `invalid-argument` where there is none of that name. Copies nothing. */
    column<Name extends keyof FieldsOf<R> & string>(name: Name): Column<FieldsOf<R>[Name]>;
    /**
     * Rows `from` up to `to`, counted as `Array.slice` does. Copies nothing: the slice shares its chunks with this table, so
     * moving or releasing one takes the memory of both.
     */
    slice(from?: number, to?: number): Table<R>;
    /**
     * Plain objects of a window of rows. Throws `invalid-argument` for more than `rowsMax` (10,000): objects by the million
     * cost the frames that a table saves. Bytes and lists in them stay views of the table's memory.
     */
    toObjects(window?: ObjectWindow): RowOf<FieldsOf<R>>[];
    /**
     * Frees memory now, without waiting for garbage collection (but on Node 20, which cannot): of all chunks, or of those
     * that end at or before the row `before`. Every row, view and slice of that memory throws `released` from here on, or is an
     * empty array.
     */
    release(options?: {
        before?: number;
    }): void;
    /**
     * The table as an Arrow table of the package `apache-arrow`, whose vectors are views of this memory: copies nothing.
     * Throws `missing-package` where it is not installed.
     */
    toArrow(): Promise<ArrowTable>;
    /** What crosses: plain data with its buffers, for a carrier of your own. Copies nothing. Throws `released`. */
    toMessage(): TableMessage;
}

interface WriterOptions {
    /** Rows in a chunk; default 65,536 in the first million rows, and a million (2^20) from there on. */
    rowsPerChunk?: number;
}
/** How large chunks may become. @internal */
interface ChunkLimits {
    /** A chunk of so many bytes is closed. */
    readonly closedBytes: number;
    /** Columns are added up after so many bytes of texts, bytes and lists. */
    readonly growthBytes: number;
    /** The data of one column. */
    readonly dataBytes: number;
    /** All columns: what 32-bit offsets in the directory reach, less room for the directory and for padding. */
    readonly blockBytes: number;
}
/**
 * Takes rows and makes a table of them. A task may return it, or yield it, as it is: its caller gets the {@link Table}.
 * Copies each row's values into columns, and each chunk once more into a block of its exact size.
 */
declare class TableWriter<R extends RecordType = RecordType> implements CrossesAs<Table<R>> {
    #private;
    readonly [crossesAs]: Table<R>;
    /** What crosses. An own property, made in the constructor: structured clone takes no others. */
    readonly "clearway:records": TableMessage;
    /** Writers are made by {@link RecordType.table}. */
    constructor(schema: R, options?: WriterOptions, limits?: ChunkLimits);
    /** How many rows it has taken. */
    get length(): number;
    /**
     * Takes a row. Properties that are no columns are not looked at. Throws `invalid-argument`, naming column, row and
     * value, for a row that does not fit: that row is left out, and the writer goes on. The error has `column` and `row`.
     */
    push(row: WriteOf<FieldsOf<R>>): void;
    /** Takes rows until there are none. Stops at one that does not fit, as `push` does; those before stay. */
    pushAll(rows: Iterable<WriteOf<FieldsOf<R>>>): void;
    /**
     * The table of all rows so far; the same one each time. The writer takes no more rows and holds no scratch. Throws
     * `invalid-argument` when a getter of a row calls it.
     */
    finish(): Table<R>;
}

declare const fieldsOf: unique symbol;
/** The fields that a record was declared with. */
type FieldsOf<R> = R extends {
    readonly [fieldsOf]: infer F extends Fields;
} ? F : never;
/** A row of a table as it is read. */
type Row<R> = RowOf<FieldsOf<R>>;
/** A row as writers take it. */
type NewRow<R> = WriteOf<FieldsOf<R>>;
/** What rows are made of. Two records with the same columns in the same order are one. */
declare class RecordType<F extends Fields = Fields> {
    #private;
    readonly [fieldsOf]: F;
    /** The columns, as data. */
    readonly shapes: readonly Shape[];
    /** @internal */
    readonly Row: RowClass;
    /** Made by {@link record}. */
    constructor(shapes: readonly Shape[]);
    /** @internal Undefined where a column has the name of a property of cursors. */
    get RowCursor(): CursorClass | undefined;
    /** @internal */
    get MovingRow(): RowClass;
    /** A writer of a table of such rows. Throws `invalid-argument`. */
    table(options?: WriterOptions): TableWriter<RecordType<F>>;
    /** A table of these rows, on this thread. Throws as `push` does. */
    tableOf(rows: Iterable<WriteOf<F>>, options?: WriterOptions): Table<RecordType<F>>;
    /**
     * The table in what has crossed: one inside of another object, or one that came by a carrier of your own. O(columns +
     * chunks), copies nothing, takes its buffers over. Throws `protocol` for what is no table, or one of other columns, and
     * `released` for memory that was moved on; a chunk with columns that it does not hold says so when it is first read.
     */
    from(value: unknown): Table<RecordType<F>>;
    /**
     * A table of what an Arrow table of the package `apache-arrow` holds, whose columns must be these. Copies each buffer
     * once, because a table owns its memory. Throws `missing-package`, and `protocol` for other columns.
     */
    fromArrow(arrow: ArrowTable): Promise<Table<RecordType<F>>>;
}
/**
 * Declares what rows are made of: `record({ rollNum: u32, name: text({ dictionary: true }) })`. Cheap the second time:
 * the classes of its rows are made once for the same columns. Throws `invalid-argument`.
 */
declare function record<F extends Fields>(fields: F): RecordType<F>;
/** The table in any value that has crossed, of whatever columns. See {@link RecordType.from}. */
declare function tableFrom(value: unknown): Table;
/** A table of whatever columns an Arrow table has. See {@link RecordType.fromArrow}. */
declare function tableFromArrow(arrow: ArrowTable): Promise<Table>;

interface InferOptions {
    /** How many rows, from the first on, tell the types; default 100. */
    sampleRows?: number;
}
/** What a value of an ordinary row reads as, once it is in a table. */
type ReadAs<T> = T extends Date ? number : T extends readonly number[] ? Float64Array : T extends undefined ? null : T extends object ? T extends ArrayBufferView | readonly unknown[] ? T : {
    readonly [Name in keyof T]: ReadAs<T[Name]>;
} : T;
/** The columns that rows of type `T` are inferred to have. */
type InferredFields<T> = {
    readonly [Name in keyof T & string]-?: [T[Name]] extends [number] ? typeof f64 : Field<{
        read: ReadAs<T[Name]>;
        write: T[Name];
        flat: ReadAs<T[Name]>[];
        part: T[Name] extends Date ? NumberPart<BigInt64Array> : Part;
    }>;
};
/**
 * The record that some rows seem to have, by the first of them: a convenience for trying things out. `number` becomes
 * `f64`, whole or not, so that no later number can be wrong; `bigint` `i64`; `Date` a timestamp of ms; arrays of numbers
 * `list(f64)`, of texts `list(text())`; a column with null or nothing in the sample `nullable`. Texts have no dictionary. Throws
 * `invalid-argument` for values that no column holds, and for columns of nothing but null.
 */
declare function inferRecord<T extends object>(rows: readonly T[], options?: InferOptions): RecordType<InferredFields<T>>;
/**
 * A table of ordinary rows, whose columns are inferred ({@link inferRecord}). Throws `invalid-argument` on drift: for the
 * first row that has another type in a column, or a column more than the sample, naming both.
 */
declare function tableFromRows<T extends object>(rows: readonly T[], options?: InferOptions & WriterOptions): Table<RecordType<InferredFields<T>>>;

export { ChunkCursor, Column, CrossesAs, RecordType, Table, TableWriter, bool, bytes, crossesAs, date, f32, f64, i16, i32, i64, i8, inferRecord, list, nullable, record, struct, tableFrom, tableFromArrow, tableFromRows, text, timestamp, u16, u32, u64, u8 };
export type { BitPart, BytesPart, CodePart, Field, Fields, FieldsOf, ListPart, NewRow, NumberPart, ObjectWindow, Part, Row, Shape, TableMessage, Texts, TimeUnit, WriterOptions };
