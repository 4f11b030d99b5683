// SPDX-License-Identifier: MIT OR Apache-2.0

/// A type of your own that the standard codec carries.
///
/// On the wire, a value of the type is a type byte from 128 to 255, then the body that the extension
/// writes. Both ends need an extension with this type byte, in any language. It applies to exactly
/// this type. Several threads may call its functions at the same time.
public struct CodecExtension: Sendable {
  /// The type byte.
  public let tag: UInt8
  let type: any Any.Type
  let write: @Sendable (Any, inout ExtensionWriter) throws -> Void
  let read: @Sendable (inout ExtensionReader) throws -> CustomValue
  let wrap: @Sendable (Any) -> CustomValue?

  /// Makes an extension.
  ///
  /// `read` reads exactly the bytes that `write` wrote. A ``ClearwayError`` that they throw reaches
  /// the caller of the codec. Another error becomes ``ClearwayError/Code/notEncodable`` or
  /// ``ClearwayError/Code/malformed``.
  ///
  /// Throws ``ClearwayError/Code/invalidArgument`` for a type byte below 128, and for a type that the
  /// codec carries without an extension.
  public init<T: Hashable & Sendable>(
    tag: UInt8, _ type: T.Type = T.self,
    write: @escaping @Sendable (_ value: T, _ writer: inout ExtensionWriter) throws -> Void,
    read: @escaping @Sendable (_ reader: inout ExtensionReader) throws -> T
  ) throws(ClearwayError) {
    try check("tag", Int(tag), in: Int(Tag.extensionMin)...Int(UInt8.max))
    if builtIn.contains(ObjectIdentifier(type)) {
      throw ClearwayError(.invalidArgument, "the codec carries this type already: type=\(type)")
    }
    self.tag = tag
    self.type = type
    self.write = { value, writer in
      if let value = value as? T { try write(value, &writer) }
    }
    self.read = { reader in CustomValue(try read(&reader)) }
    wrap = { value in (value as? T).map { CustomValue($0) } }
  }
}

/// The types that the codec writes itself.
private let builtIn: Set<ObjectIdentifier> = {
  let types: [any Any.Type] = [
    Value.self, String.self, Bool.self, Double.self, Float.self, Int.self, Int8.self, Int16.self,
    Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self,
    [UInt8].self, [Int32].self, [Int64].self, [Int].self, [Float].self, [Double].self,
    [String].self,
  ]
  return Set(types.map { ObjectIdentifier($0) })
}()

/// The extensions of a codec: by type for encoding, by type byte for decoding.
final class Extensions: Sendable {
  private let byType: [ObjectIdentifier: CodecExtension]
  private let byTag: [UInt8: CodecExtension]

  /// Returns nil for no extensions. Throws `invalid-argument` for a type or a type byte that two have.
  static func of(_ all: [CodecExtension]) throws(ClearwayError) -> Extensions? {
    if all.isEmpty { return nil }
    var byType: [ObjectIdentifier: CodecExtension] = [:]
    var byTag: [UInt8: CodecExtension] = [:]
    for each in all {
      if byTag.updateValue(each, forKey: each.tag) != nil {
        throw ClearwayError(
          .invalidArgument, "two extensions have the same type byte: tag=\(each.tag)")
      }
      if byType.updateValue(each, forKey: ObjectIdentifier(each.type)) != nil {
        throw ClearwayError(
          .invalidArgument, "two extensions have the same type: type=\(each.type)")
      }
    }
    return Extensions(byType, byTag)
  }

  private init(_ byType: [ObjectIdentifier: CodecExtension], _ byTag: [UInt8: CodecExtension]) {
    self.byType = byType
    self.byTag = byTag
  }

  func of(_ type: any Any.Type) -> CodecExtension? { byType[ObjectIdentifier(type)] }
  func of(tag: UInt8) -> CodecExtension? { byTag[tag] }
}

/// What a standard codec accepts and carries.
struct StandardRules: Sendable {
  let limits: CodecLimits
  let extensions: Extensions?

  init(_ limits: CodecLimits, _ extensions: Extensions? = nil) {
    self.limits = limits
    self.extensions = extensions
  }

  /// The same extensions without limits, for bytes that were checked before.
  var unlimited: StandardRules {
    StandardRules(CodecLimits(validDepth: .max, items: .max), extensions)
  }
}

/// A codec with extensions.
protocol ExtendedCodec {
  var extensions: Extensions? { get }
}

/// A value of a type of your own. A ``CodecExtension`` writes and reads it.
public struct CustomValue: Sendable, Hashable {
  /// A reference keeps a ``Value`` small.
  private final class Box: Sendable {
    let base: any Hashable & Sendable
    init(_ base: any Hashable & Sendable) { self.base = base }
  }

  private let box: Box

  /// Wraps a value.
  public init(_ base: some Hashable & Sendable) { box = Box(base) }

  /// The value.
  public var base: any Hashable & Sendable { box.base }

  /// Compares two values of the same type. Values of different types are different.
  public static func == (left: CustomValue, right: CustomValue) -> Bool {
    func isEqual<T: Hashable>(_ one: T) -> Bool {
      type(of: right.base) == T.self && right.base as? T == one
    }
    return isEqual(left.base)
  }

  /// Adds the value to a hash.
  public func hash(into hasher: inout Hasher) { box.base.hash(into: &hasher) }
}

extension Value {
  /// Makes a value of a type of your own.
  public init(custom value: some Hashable & Sendable) { self = .custom(CustomValue(value)) }

  /// Returns the value as your own type, or nil for another kind or type.
  public func customValue<T>(as type: T.Type = T.self) -> T? {
    if case .custom(let value) = self { return value.base as? T }
    return nil
  }
}
