"""List where hooks differ from the Azure SRE Agent's, and why: a file that runs there loads here, but for these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Deviation:
    """State one difference.

    Attributes:
        point: what it is about.
        azure: what the documented format does.
        ours: what happens here.
        why: what that is good for.
    """

    point: str
    azure: str
    ours: str
    why: str


DEVIATIONS: Final = (
    Deviation(
        "events",
        "Stop and PostToolUse are documented in full; newer pages name Start and PreToolUse.",
        "PreToolUse, PostToolUse and Stop. Start is refused as no event.",
        "PostToolUse prevents nothing: the tool has run.",
    ),
    Deviation(
        "levels",
        "The agent, and a custom agent within it.",
        "The deployment, and the agent. The deployment's hooks fire first.",
        "One image runs one agent.",
    ),
    Deviation(
        "failMode of PreToolUse",
        "A hook that fails lets pass unless failMode says block.",
        "A PreToolUse hook that fails refuses unless failMode says allow; the other events are as in Azure.",
        "What stands before a tool and cannot judge must not let it run.",
    ),
    Deviation(
        "maxRejections of command hooks",
        "Only prompt hooks of Stop have a ceiling.",
        "Command hooks take maxRejections, too; 25 where it is left out.",
        "A hook that always refuses would never let the run end.",
    ),
    Deviation(
        "an empty matcher",
        "It matches nothing.",
        "A fault when the file is read, as is one that does not compile or has more than 1,000 characters.",
        "A hook that never fires looks like a check and is none.",
    ),
    Deviation(
        "unknown and misplaced options",
        "Not documented.",
        "A fault: an option that nobody knows, one of another event or type, a key without a value, a key twice.",
        "A misspelt failMode would be a hook that lets pass.",
    ),
    Deviation(
        "YAML",
        "Not documented.",
        "The core schema of YAML 1.2 in UTF-8, one document of 1,000,000 bytes, 20,000 values and 32 levels at most, "
        "without tags or merge keys. Aliases count as what they stand for.",
        "A file means one thing, and cannot grow when it is read.",
    ),
    Deviation(
        "the document of an agent",
        "Hooks stand in the spec of an ExtendedAgent.",
        "They may, or under hooks at the top. Nothing else of the spec is read; a name must be the agent's.",
        "Only hooks are shared: the rest of an agent is declared elsewhere.",
    ),
    Deviation(
        "model",
        "ReasoningFast where it is left out.",
        "The agent's own where it is left out; else a name that the settings list.",
        "No model is called that nobody declared and priced.",
    ),
    Deviation(
        "command",
        "Only a script is limited, to 64 KB.",
        "A command is, too.",
        "A program takes no longer an argument on every system.",
    ),
    Deviation(
        "the first line of a script",
        "It chooses between bash and Python 3.",
        "It names bash or python3 with options of one letter, and stands first; without one, bash. Else a fault.",
        "A script in another language would be run as bash, line by line.",
    ),
    Deviation(
        "a script of Python that is not there",
        "Not documented; Python then ends with status 2, which reads as a refusal.",
        "The hook has failed, and failMode decides.",
        "Nobody refused anything.",
    ),
    Deviation(
        "what answers may hold",
        "JSON of one of two forms.",
        "Strictly that: text around it, a key that nobody knows, a key twice, both forms at once, a value of a wrong "
        "type or no number make a hook that failed. A reason may be null.",
        "Words around an answer may be a model's, or a tool's that imitates one.",
    ),
    Deviation(
        "a refusal without a reason",
        "It counts as an approval of the answer.",
        "It refuses, with a stated sentence as its reason.",
        "A check that says no is believed.",
    ),
    Deviation(
        "ask and updatedInput",
        "Not in the documented forms.",
        "A PreToolUse hook may answer ask, and a person decides; it may give updatedInput, which is classified anew.",
        "A hook can be careful without being final.",
    ),
    Deviation(
        "alert",
        "Not in the documented forms.",
        "hookSpecificOutput.alert names an alert that people get, as hook_ and the name.",
        "A hook that pages holds no secret.",
    ),
    Deviation(
        "length of what is said",
        "Not documented.",
        "A reason or a context is cut at 8,000 characters, and says so.",
        "Nothing that a hook writes can fill the model's context.",
    ),
    Deviation(
        "PostToolUse on other calls",
        "It fires after a tool finished successfully.",
        "It fires after failed and refused calls, too: tool_succeeded is false, and tool_decision tells what became of "
        "the call.",
        "An audit that lacks what failed is none.",
    ),
    Deviation(
        "tool_use_id and tool_decision",
        "Not in the documented contexts.",
        "PreToolUse reads tool_use_id, PostToolUse reads tool_decision.",
        "Two calls of one tool can be told apart, and a refused one from a failed one.",
    ),
    Deviation(
        "additionalContext of several hooks",
        "Only the last one's is added.",
        "All are added, in order.",
        "No hook silences another.",
    ),
    Deviation(
        "where hooks' words stand",
        "additionalContext and reasons are added as messages of the user.",
        "They stand within the tool's result or the message that sends an answer back, fenced as what a check said.",
        "A hook's text is not what the user asked for.",
    ),
    Deviation(
        "execution_summary",
        "The path of a transcript.",
        "The path of a redacted transcript, written for each firing and removed after it.",
        "Nothing of a conversation stays on a disk.",
    ),
)
