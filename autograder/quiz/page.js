"use strict";
// Practice in the browser. Questions come from the JSON in the page; what is remembered is kept by item in localStorage.
(() => {
  const { questions } = JSON.parse(document.getElementById("data").textContent);
  const DAYS = [0, 1, 3, 7, 16, 35], AGAIN = 3, KEEP = "shardlab-practice";
  const at = id => document.getElementById(id);
  const today = () => { const d = new Date(); return Math.floor((d - d.getTimezoneOffset() * 6e4) / 864e5); };
  const make = (tag, attributes = {}, html = null) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (html !== null) node.innerHTML = html;
    return node;
  };
  let memory = {};
  try { memory = JSON.parse(localStorage.getItem(KEEP)) || {}; } catch { /* a browser that keeps nothing */ }
  const keep = () => { try { localStorage.setItem(KEEP, JSON.stringify(memory)); } catch { /* the same */ } };

  const byItem = new Map();
  for (const q of questions) byItem.set(q.item, [...(byItem.get(q.item) || []), q]);
  let queue = [], missed = new Set(), asked = 0, right = 0, now = null, told = false, order = [];

  function fill(select, values, every) {
    select.append(new Option(every, ""), ...values.map(value => new Option(value, value)));
  }
  fill(at("topic"), [...new Set(questions.map(q => q.topic))].sort(), "all topics");
  fill(at("level"), [...new Set(questions.map(q => q.level))].sort(), "all levels");

  function begin() {
    const topic = at("topic").value, level = at("level").value;
    const one = item => byItem.get(item)[0];
    const pool = [...byItem.keys()].sort((a, b) => one(a).level - one(b).level).filter(item =>
      (!topic || one(item).topic === topic) && (!level || String(one(item).level) === level));
    const due = item => memory[item] && (memory[item].due <= today() || memory[item].version !== one(item).version);
    queue = [...pool.filter(due).sort((a, b) => memory[a].due - memory[b].due), ...pool.filter(item => !memory[item])];
    missed = new Set(); asked = 0; right = 0;
    show();
  }

  function progress() {
    at("progress").textContent = `${asked} answered, ${right} right, ${queue.length} to come`;
    at("bar").max = Math.max(1, asked + queue.length);
    at("bar").value = asked;
  }

  function show(focus = false) {
    progress();
    at("said").replaceChildren();
    const box = at("question");
    box.replaceChildren();
    told = false;
    if (!queue.length) {
      now = null;
      box.append(make("h2", { id: "heading" }, "Nothing is left for today"),
        make("p", {}, "Choose another topic, or come back tomorrow: what you missed comes back."));
      if (focus) box.focus();
      return;
    }
    const faces = byItem.get(queue[0]), seen = memory[queue[0]];
    now = faces[(seen ? seen.right + seen.wrong : 0) % faces.length];
    const form = make("form", { id: "answer" });
    form.append(make("h2", { id: "heading" }, `${now.topic} · level ${now.level} · ${now.item}`),
      make("div", { class: "statement", id: "statement" }, now.text));
    if (now.regime) form.append(make("p", { class: "regime" }, `Precision: ${now.regime}.`));
    if (now.form === "two-tier") form.append(radios("first", "True or false?", now.first));
    if (now.form === "spot-the-error") form.append(radios("first", "Which one is wrong?", now.first, now.code));
    if (now.choices.length) form.append(radios("because", { "two-tier": "Because …", "spot-the-error": "What is right?" }[now.form]
      || "Choose one", now.choices));
    if (now.form === "numeric") {
      const hint = now.unit ? `A number with its unit, or a bare number in ${now.unit}` : "A number";
      form.append(make("label", { for: "value" }, `${hint}: `),
        make("input", { type: "text", id: "value", autocomplete: "off", "aria-describedby": "statement" }));
    }
    if (now.form === "ordering") form.append(steps());
    if (now.form === "essay") form.append(make("label", { for: "text" }, "Your answer"), make("textarea", { id: "text" }));
    const buttons = make("div", { class: "buttons" });
    buttons.append(make("button", { type: "submit", class: "main", id: "go" }, now.form === "essay" ? "Show a model answer" : "Check"),
      make("button", { type: "button", id: "skip" }, "Skip"));
    form.append(buttons);
    form.addEventListener("submit", event => { event.preventDefault(); told ? next() : check(); });
    box.append(form);
    at("skip").addEventListener("click", skip);
    if (focus) box.focus();
  }

  function radios(name, title, choices, code = false) {
    const set = make("fieldset", { id: name });
    set.append(make("legend", {}, title));
    choices.forEach((choice, place) => {
      const label = make("label", { class: "choice" });
      const key = name === "first" ? (choice.letter === "T" || choice.letter === "F" ? choice.letter.toLowerCase() : choice.letter) : choice.letter;
      const text = make("span");
      if (code) text.append(Object.assign(make("code"), { textContent: choice.plain })); else text.innerHTML = choice.text;
      label.append(make("input", { type: "radio", name, value: place }), make("span", { class: "key", "aria-hidden": "true" }, key), text);
      set.append(label);
    });
    return set;
  }

  function steps() {
    order = now.steps.map(step => step.letter);
    const set = make("fieldset");
    set.append(make("legend", {}, "Put the steps in order, first at the top"), make("ol", { class: "steps", id: "steps" }));
    const draw = (focus = null) => {
      const list = set.querySelector("ol");
      list.replaceChildren(...order.map((letter, place) => {
        const text = now.steps.find(step => step.letter === letter).text;
        const row = make("li", { tabindex: "0", "data-letter": letter, "aria-label": `Place ${place + 1} of ${order.length}` });
        row.append(make("span", {}, text));
        for (const [sign, by, word] of [["↑", -1, "up"], ["↓", 1, "down"]]) {
          const button = make("button", { type: "button", "aria-label": `Move ${word}: place ${place + 1}` }, sign);
          button.addEventListener("click", () => move(place, by));
          row.append(button);
        }
        row.addEventListener("keydown", event => {
          if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
            event.preventDefault();
            move(place, event.key === "ArrowUp" ? -1 : 1);
          }
        });
        return row;
      }));
      if (focus !== null) list.children[focus].focus();
    };
    const move = (place, by) => {
      const to = place + by;
      if (told || to < 0 || to >= order.length) return;
      [order[place], order[to]] = [order[to], order[place]];
      draw(to);
    };
    draw();
    return set;
  }

  const say = (fine, html) => at("said").append(make("p", { class: fine ? "right" : "wrong" },
    `<strong class="${fine ? "right" : "wrong"}">${fine ? "✓ Right." : "✗ Not right."}</strong> ${html}`));
  const named = known => (known.name ? `<em>“${known.name}”.</em> ` : "") + known.said;

  function tier(name, choices, counts = true) {
    const picked = document.querySelector(`input[name=${name}]:checked`);
    const choice = choices[Number(picked.value)];
    const fine = choice.right && counts;
    document.querySelectorAll(`input[name=${name}]`).forEach((input, place) => {
      input.disabled = true;
      const mark = choices[place].right ? ["right", "✓ right"] : input.checked ? ["wrong", "✗ yours"] : null;
      if (!mark) return;
      input.closest("label").classList.add(mark[0]);
      input.closest("label").append(make("span", { class: "mark" }, mark[1]));
    });
    say(fine, choice.right ? (counts ? "" : "But it counts only with the right first answer.") : named(choice));
    return fine;
  }

  function number(text) {
    const match = /^\s*([+\-−]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(\S*)\s*$/i.exec(text.replace(/(\d)[ ,_](?=\d{3})/g, "$1"));
    if (!match) return null;
    const scale = match[2] ? now.units[match[2]] : 1;
    return scale === undefined ? null : Number(match[1].replace("−", "-")) * scale;
  }

  function check() {
    const missing = [...document.querySelectorAll("#answer fieldset")].find(set => set.querySelector("input") && !set.querySelector("input:checked"));
    at("said").replaceChildren();
    if (missing) {
      at("said").append(make("p", {}, `Not answered yet: ${missing.querySelector("legend").textContent}`));
      missing.querySelector("input").focus();
      return;
    }
    let fine = true;
    if (now.form === "numeric") {
      const value = number(at("value").value);
      if (value === null) {
        at("said").append(make("p", {}, `That cannot be read: write a number${now.unit ? ` and a unit such as ${Object.keys(now.units).join(", ")}` : ""}.`));
        at("value").focus();
        return;
      }
      const near = known => Math.abs(value - known) <= now.rel * Math.abs(known) * (1 + 1e-9) + 1e-12;
      const wrong = now.wrong.find(each => near(each.value));
      fine = near(now.value);
      say(fine, fine ? "" : `${wrong ? named(wrong) : ""} It is ${now.shown}.`);
      at("value").readOnly = true;
    } else if (now.form === "ordering") {
      fine = order.join() === now.order.join();
      const text = letter => now.steps.find(step => step.letter === letter).text;
      say(fine, fine ? "" : "The order is:");
      if (!fine) at("said").append(make("ol", {}, now.order.map(letter => `<li>${text(letter)}</li>`).join("")));
    } else if (now.form === "essay") {
      at("said").append(make("p", {}, `<strong>A model answer.</strong> ${now.why}`), make("ul", {}, now.rubric.map(mark => `<li>${mark}</li>`).join("")));
    } else {
      if (now.first.length) fine = tier("first", now.first);
      fine = tier("because", now.choices, fine) && fine;
    }
    if (now.form !== "essay") at("said").append(make("p", {}, `<strong>Why:</strong> ${now.why}`));
    remember(fine);
    told = true;
    at("go").textContent = "Next question";
    at("skip").hidden = true;
    at("go").focus();
    progress();
  }

  function remember(fine) {
    const item = queue.shift();
    const seen = memory[item] || { box: 0, right: 0, wrong: 0 };
    asked += 1;
    if (fine) {
      right += 1; seen.right += 1;
      seen.box = missed.has(item) ? 1 : Math.min(seen.box + 1, DAYS.length - 1);
    } else {
      seen.wrong += 1; seen.box = 0;
      missed.add(item);
      queue.splice(Math.min(AGAIN, queue.length), 0, item);
    }
    seen.version = now.version;
    seen.due = today() + DAYS[seen.box];
    memory[item] = seen;
    keep();
  }

  const next = () => show(true);
  function skip() { queue.shift(); show(true); }

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || !now) return;
    const typing = event.target.matches("input[type=text], textarea, select");
    if (event.key === "Enter" && !typing && !event.target.matches("button, summary, a")) {
      event.preventDefault();
      at("answer").requestSubmit();
    }
    if (typing || told || event.key.length !== 1) return;
    const key = event.key.toLowerCase();
    if (key === "s") return skip();
    const first = now.first.findIndex(choice => choice.letter.toLowerCase() === key);
    const because = now.choices.findIndex(choice => choice.letter === key);
    const input = first >= 0 ? document.querySelectorAll("input[name=first]")[first] : document.querySelectorAll("input[name=because]")[because];
    if (input) { input.checked = true; input.focus(); }
  });
  for (const id of ["topic", "level"]) at(id).addEventListener("change", begin);
  at("filter").addEventListener("submit", event => event.preventDefault());
  at("forget").addEventListener("click", () => { memory = {}; keep(); begin(); });
  begin();
})();
