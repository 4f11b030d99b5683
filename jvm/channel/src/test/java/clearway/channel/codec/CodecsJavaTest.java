// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CodecsJavaTest {
    record Point(double x, double y) {}

    /** An extension for a type of the application. */
    static final class Points extends Extension<Point> {
        Points() {
            super(128, Point.class);
        }

        @Override
        public void write(Point point, ValueWriter writer) {
            writer.float64(point.x());
            writer.float64(point.y());
        }

        @Override
        public Point read(ValueReader reader) {
            return new Point(reader.float64(), reader.float64());
        }
    }

    @Test
    @DisplayName("Java: values, an extension and methods read as Java")
    void readsAsJava() {
        byte[] message = Codecs.STANDARD.encode(Map.of("name", "Zoë"));
        assertEquals(Map.of("name", "Zoë"), Codecs.STANDARD.decode(message));

        StandardMessageCodec withPoints = Codecs.STANDARD.with(new Points());
        List<Point> points = List.of(new Point(1, 2), new Point(3, 4));
        assertEquals(points, withPoints.decode(withPoints.encode(points)));

        byte[] call = Codecs.STANDARD_METHODS.encodeCall(new MethodCall("add", new int[] {1, 2}));
        assertArrayEquals(new int[] {1, 2}, (int[])
                Codecs.STANDARD_METHODS.decodeCall(call).getArgs());
        byte[] failed = Codecs.JSON_METHODS.encodeReply(new MethodReply.Failure("UNAVAILABLE", "no battery"));
        MethodReply reply = Codecs.JSON_METHODS.decodeReply(failed);
        assertEquals(
                "UNAVAILABLE",
                assertInstanceOf(MethodReply.Failure.class, reply).getCode());
    }

    @Test
    @DisplayName("Java: a refusal has a code and the byte that is wrong")
    void refusals() {
        CodecException refused =
                assertThrows(CodecException.class, () -> Codecs.STANDARD.decode(new byte[] {12, 1, 15}));
        assertEquals("unknown-tag", refused.getCode());
        assertEquals(2, refused.getOffset());
        assertEquals(CodecError.UNKNOWN_TAG, refused.getError());
    }

    @Test
    @DisplayName("Java: what an extension throws is the cause of a malformed")
    void brokenExtension() {
        Extension<Point> broken = new Extension<>(200, Point.class) {
            @Override
            public void write(Point point, ValueWriter writer) {
                writer.size(300);
            }

            @Override
            public Point read(ValueReader reader) {
                throw new IllegalStateException("no point");
            }
        };
        StandardMessageCodec codec = Codecs.STANDARD.with(broken);
        CodecException refused = assertThrows(CodecException.class, () -> codec.decode(codec.encode(new Point(0, 0))));
        assertEquals(CodecError.MALFORMED, refused.getError());
        assertNotNull(refused.getCause());
        assertThrows(IllegalArgumentException.class, () -> codec.with(broken));
    }
}
