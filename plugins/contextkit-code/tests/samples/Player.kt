package music

/** Plays tracks. */
class Player(private val volume: Int) : Device {
    private val queue = mutableListOf<String>()

    /** Start a track. */
    override fun play(track: String): Boolean {
        queue.add(track)
        return true
    }

    companion object {
        fun muted(): Player = Player(0)
    }
}

interface Device {
    fun play(track: String): Boolean
}

data class Track(val title: String)

enum class Mode { SHUFFLE, REPEAT }

object Library {
    fun all(): List<Track> = emptyList()
}

// Say how long it takes.
suspend fun duration(track: Track): Int {
    return track.title.length
}

fun String.asTrack(): Track = Track(this)

typealias Tracks = List<Track>
