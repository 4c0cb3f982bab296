package parsing

/** Reads tokens. */
class Parser(source: String) extends Reader {
  /** The next token. */
  def next(): Option[Token] = {
    None
  }
}

trait Reader {
  def next(): Option[Token]
}

case class Token(text: String)

object Parser {
  def apply(source: String): Parser = new Parser(source)
}

enum Kind {
  case Word, Number
}

// Split a text.
def split(text: String): List[String] = text.split(" ").toList
