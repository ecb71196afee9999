// Evaluate requests under identity policies: JSON on standard input, one verdict for each request on standard output.
import { readFileSync } from "node:fs";
import { runSimulation } from "@cloud-copilot/iam-simulate";

const everything = { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "*", Resource: "*" }] };

async function verdict(policy, request) {
  const answer = await runSimulation(
    {
      request: {
        principal: request.principal,
        action: request.action,
        resource: { resource: request.resource, accountId: request.account },
        contextVariables: request.context,
      },
      ...(request.resourcePolicy ? { resourcePolicy: request.resourcePolicy } : {}),
      identityPolicies: [{ name: "held", policy }],
      serviceControlPolicies: [{ orgIdentifier: "o-all", policies: [{ name: "all", policy: everything }] }],
      resourceControlPolicies: [],
    },
    {},
  );
  // Asked of no resource at all, an action that may name one gets an answer of its own.
  if (answer.resultType === "wildcard" && request.resource === "*" && !Object.keys(request.context).length) {
    return answer.overallResult;
  }
  if (answer.resultType !== "single") {
    throw new Error(`${request.action} on ${request.resource}: ${JSON.stringify(answer)}`);
  }
  // A key that the action does not take would make the question another one.
  if (answer.result.ignoredContextKeys?.length) {
    throw new Error(`${request.action} takes no ${answer.result.ignoredContextKeys}`);
  }
  return answer.overallResult;
}

const { policy, requests } = JSON.parse(readFileSync(0, "utf8"));
const verdicts = [];
for (const request of requests) {
  verdicts.push(await verdict(policy, request));
}
console.log(JSON.stringify(verdicts));
