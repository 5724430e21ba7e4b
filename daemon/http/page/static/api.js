// Talks to the daemon: JSON in and out, and the stream of news. The token, if one is needed, lives in this tab alone.

const KEY = "galloon-token";
export class Problem extends Error {
  constructor(status, message, field) {
    super(message);
    Object.assign(this, { status, field });
  }
}
export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  drop: () => sessionStorage.removeItem(KEY),
};

const headers = () => (token.get() ? { Authorization: `Bearer ${token.get()}` } : {});

const ask = async (path, options) => {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...options?.headers, ...headers() } });
  } catch {
    throw new Problem(0, "The daemon does not answer.", "");
  }
  if (response.ok) return response;
  const found = await response.json().catch(() => null);
  const problem = found?.problem ?? { message: `The daemon answered with status ${response.status}.` };
  throw new Problem(response.status, problem.message, problem.field ?? "");
};

export const get = async (path, query = {}, signal = undefined) => {
  const answer = await ask(`${path}?${new URLSearchParams(query)}`, { signal });
  return answer.json();
};
export const post = async (path, body) => {
  const options = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  return (await ask(path, options)).json();
};

// Listens until `close` is called; comes back by itself when the daemon does. EventSource cannot send a token.
export const listen = (query, heard, told) => {
  const leaving = new AbortController();
  const run = async () => {
    for (let pause = 500; !leaving.signal.aborted; pause = Math.min(2 * pause, 10_000)) {
      try {
        const response = await ask(`/events?${new URLSearchParams(query)}`, { signal: leaving.signal });
        told("live");
        pause = 500;
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          const parts = (rest + value).split("\n\n");
          rest = parts.pop();
          for (const part of parts) {
            const data = part.split("\n").find((line) => line.startsWith("data: "));
            if (data) heard(JSON.parse(data.slice(6)));
          }
        }
      } catch (problem) {
        if (leaving.signal.aborted) return;
        if (problem.status === 401) return told("locked");
      }
      if (!leaving.signal.aborted) {
        told("waiting");
        await new Promise((resume) => setTimeout(resume, pause));
      }
    }
  };
  run();
  return () => leaving.abort();
};
