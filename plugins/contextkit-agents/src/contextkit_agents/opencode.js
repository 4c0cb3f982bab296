// Gives OpenCode's model the context of contextkit. Written by `contextkit install`.
import { spawn } from "node:child_process"

const COMMAND = ["contextkit-hook", "opencode"]
const SECONDS = 5
const TOOLS = { bash: "Bash", read: "Read", edit: "Edit", write: "Write" }

// Runs the hook's command; gives the context, or "" if there is none or something goes wrong.
const ask = (event) =>
  new Promise((resolve) => {
    const [program, ...words] = COMMAND
    const stdio = ["pipe", "pipe", "ignore"]
    const child = spawn(program, words, { stdio, timeout: SECONDS * 1000 })
    let answer = ""
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (answer += data))
    child.on("close", () => {
      try {
        resolve(JSON.parse(answer).hookSpecificOutput.additionalContext)
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify(event))
  })

export const ContextkitPlugin = async ({ directory }) => {
  // Session -> how it starts with its next message; "" for one that has started.
  const starts = new Map()
  const told = (name, session, fields) =>
    ask({ hook_event_name: name, session_id: session, cwd: directory, ...fields })

  return {
    event: async ({ event }) => {
      if (event.type === "session.compacted") starts.set(event.properties.sessionID, "compact")
    },

    "chat.message": async ({ sessionID }, { message, parts }) => {
      const written = parts.filter((part) => part.type === "text" && !part.synthetic)
      if (!written.length) return
      const source = starts.get(sessionID) ?? "startup"
      starts.set(sessionID, "")
      const prompt = written.map((part) => part.text).join("\n")
      const texts = [
        source && (await told("SessionStart", sessionID, { source })),
        await told("UserPromptSubmit", sessionID, { prompt }),
      ].filter(Boolean)
      if (!texts.length) return
      // The model gets parts in the order of their ids.
      const ids = parts.map((part) => part.id).sort()
      const own = { id: `${ids.at(-1)}0`, sessionID, messageID: message.id, synthetic: true }
      parts.push({ ...own, type: "text", text: texts.join("\n\n") })
    },

    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      if (!(tool in TOOLS)) return
      const failed = Boolean(output.metadata?.exit)
      const said = await told(failed ? "PostToolUseFailure" : "PostToolUse", sessionID, {
        tool_name: TOOLS[tool],
        tool_input: { command: args?.command, file_path: args?.filePath },
        ...(failed ? { error: `${output.output}` } : { tool_response: output.output }),
      })
      if (said) output.output += `\n\n${said}`
    },
  }
}
