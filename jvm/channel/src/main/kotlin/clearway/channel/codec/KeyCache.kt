// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/**
 * Texts that were keys of maps, by their bytes: the same few come again and again, and one that is found needs no
 * memory and knows its hash. A place a hash, the latest stays, so that nothing that is sent can make it grow. For one
 * thread at a time.
 */
internal class KeyCache {
    private val texts = arrayOfNulls<String>(PLACES)

    /** The text of ASCII bytes, or null where they are too many or not ASCII. */
    fun text(bytes: ByteArray, start: Int, size: Int): String? {
        if (size > SIZE_MAX) return null
        // The same as the text's own hash.
        var hash = 0
        var all = 0
        for (at in start until start + size) {
            val byte = bytes[at].toInt()
            all = all or byte
            hash = hash * 31 + byte
        }
        if (all < 0) return null
        val place = (hash xor (hash ushr 9)) and (PLACES - 1)
        val known = texts[place]
        if (known != null && known.hashCode() == hash && known.length == size && same(known, bytes, start)) return known
        val text = String(bytes, start, size, Charsets.ISO_8859_1)
        texts[place] = text
        return text
    }

    private fun same(text: String, bytes: ByteArray, start: Int): Boolean {
        for (at in text.indices) if (text[at].code != bytes[start + at].toInt()) return false
        return true
    }

    private companion object {
        /** Field names of some dozen classes; 2 KiB of references. */
        const val PLACES = 512

        /** Names of fields are shorter; to compare a longer text costs what it costs to make it. */
        const val SIZE_MAX = 32
    }
}
