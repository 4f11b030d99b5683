// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/**
 * Caches the texts of map keys by their bytes, because few keys occur again and again. A cached text needs no new
 * memory and has its hash computed. A text's hash determines its place, and a new text replaces the old text there. The
 * cache therefore cannot grow. One thread may use it at a time.
 */
internal class KeyCache {
    private val texts = arrayOfNulls<String>(PLACES)

    /** Returns the text of ASCII bytes. Returns null if they are not ASCII or more than [SIZE_MAX]. */
    fun text(bytes: ByteArray, start: Int, size: Int): String? {
        if (size > SIZE_MAX) return null
        // The same hash as that of the text.
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
        /** Room for the field names of some dozen classes. The references take 2 KiB. */
        const val PLACES = 512

        /** Field names are shorter. Comparing a longer text costs as much as creating it. */
        const val SIZE_MAX = 32
    }
}
