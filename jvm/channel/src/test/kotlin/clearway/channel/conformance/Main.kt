// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.conformance

import java.io.BufferedInputStream
import java.io.BufferedOutputStream
import java.io.ByteArrayOutputStream

/**
 * The program that `conformance/run jvm` starts. Each line of stdin is a case in JSON, and each line of stdout is its
 * answer in JSON. conformance/README.md describes both.
 */
fun main() {
    val input = BufferedInputStream(System.`in`, 1 shl 16)
    val output = BufferedOutputStream(System.out, 1 shl 16)
    val line = ByteArrayOutputStream()
    while (true) {
        val byte = input.read()
        if (byte >= 0 && byte != '\n'.code) {
            line.write(byte)
            continue
        }
        val case = line.toByteArray()
        line.reset()
        if (case.any { it > ' '.code.toByte() }) {
            output.write(answer(case))
            output.write('\n'.code)
        }
        // A caller that sends one case at a time waits for this answer.
        if (byte < 0 || input.available() == 0) output.flush()
        if (byte < 0) return
    }
}
