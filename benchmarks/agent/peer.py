"""The agent to compare with: Strands, ADOT and BedrockAgentCoreApp as their own pages show them, nothing of ours."""

from __future__ import annotations

import os

import boto3
from bedrock_agentcore.runtime import BedrockAgentCoreApp
from strands import Agent, tool
from strands.models import BedrockModel

PROMPT = "You answer questions from the knowledge base."

app = BedrockAgentCoreApp()
model = BedrockModel(model_id="anthropic.claude", region_name="us-east-1")
knowledge = boto3.client("bedrock-agent-runtime", region_name="us-east-1")


@tool
def search_knowledge(query: str) -> str:
    """Search the knowledge base.

    Args:
        query: What to look for.
    """
    found = knowledge.retrieve(
        knowledgeBaseId="KB12345678",
        retrievalQuery={"text": query},
        retrievalConfiguration={"vectorSearchConfiguration": {"numberOfResults": 5}},
    )
    return "\n\n".join(result["content"]["text"] for result in found["retrievalResults"])


agents: dict[str, Agent] = {}


@app.entrypoint
def invoke(payload: dict[str, str], context: object) -> dict[str, str]:
    """Answer one question."""
    session = str(getattr(context, "session_id", ""))
    agent = agents.setdefault(
        session,
        Agent(model=model, tools=[search_knowledge], system_prompt=PROMPT, callback_handler=None),
    )
    return {"answer": str(agent(payload["prompt"]))}


if __name__ == "__main__":
    app.run(port=int(os.environ["PORT"]))
