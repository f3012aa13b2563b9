// Shows one of the views that the page holds, and draws its chart. Colours come from page.css.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const plain = (v) => (v === 0 ? "0" : Number(v.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 9 }));
  const bytes = (v) => (v < 1024 ? plain(v) : v < 1048576 ? `${plain(v / 1024)}K` : `${plain(v / 1048576)}M`);
  const selects = { op: byId("op"), size: byId("size"), arrivals: byId("arrivals") };
  const keyOf = (given) => `${given.op}-${given.size}-${given.arrivals}`;
  const chosen = () => ({ op: selects.op.value, size: selects.size.value, arrivals: selects.arrivals.value });
  let shown = data.first, chart = null;

  // Options that this run has no measurement for, beside what is chosen in the other two.
  function mark() {
    const now = chosen();
    for (const [name, select] of Object.entries(selects)) {
      for (const option of select.options) {
        option.dataset.text ??= option.textContent;
        const there = keyOf({ ...now, [name]: option.value }) in data.views;
        option.className = there ? "" : "none";
        option.textContent = option.dataset.text + (there ? "" : " (not measured)");
      }
    }
  }

  function show() {
    const now = chosen(), key = keyOf(now), there = key in data.views;
    const missing = byId("missing");
    missing.hidden = there;
    if (!there) {
      missing.querySelector("code").textContent =
        `./isthmus compare --op ${now.op} --size ${bytes(Number(now.size))}${data.arrivals[now.arrivals]}`;
    }
    if (there) shown = key;
    document.querySelectorAll("[data-key]").forEach((e) => {
      e.hidden = e.dataset.key !== shown;
      e.classList.toggle("stale", !there);
    });
    if (there) byId("title").textContent = document.title = data.views[key].title;
    mark();
    draw();
  }

  function draw() {
    const figure = byId("figure"), given = data.sweeps[data.views[shown].sweep];
    figure.hidden = !given;
    document.querySelector(".two").classList.toggle("one", !given);
    if (!given) return;
    const element = byId("chart");
    chart ??= echarts.init(element, null, { renderer: "svg" });
    chart.resize();
    const text = css("text"), soft = css("soft"), line = css("line"), page = css("page");
    const size = Number(selects.size.value);
    byId("chart-title").textContent = given.label;
    element.setAttribute("aria-label", `${given.label}; the tab All sizes has the numbers`);
    byId("chart-legend").innerHTML = given.series.map((s) =>
      `<li><i${s.dashed ? " class=dashed" : ""} style="background-color:${css(s.colour)}"></i><span></span></li>`).join("");
    byId("chart-legend").querySelectorAll("span").forEach((e, n) => { e.textContent = given.series[n].name; });
    const axis = (more) => ({
      type: "log", axisLine: { show: true, onZero: false, lineStyle: { color: line } }, axisTick: { lineStyle: { color: line } },
      splitLine: { lineStyle: { color: line, type: "dotted" } }, nameTextStyle: { color: soft, fontSize: 12 },
      axisLabel: { color: soft, fontSize: 11, hideOverlap: true, formatter: more.bytes ? bytes : plain }, ...more,
    });
    const every = given.series.flatMap((s) => s.points.map((p) => p[0]));
    const low = Math.min(...every), high = Math.max(...every);
    const costs = given.series.flatMap((s) => s.points.map((p) => p[1]));
    chart.setOption({
      animation: false, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: text },
      grid: { left: 52, right: 16, top: 24, bottom: 40 },
      tooltip: {
        trigger: "item", confine: true, backgroundColor: page, borderColor: line, textStyle: { color: text, fontSize: 12 },
        formatter: (f) => `${f.seriesName}<br>${bytes(f.value[0])} bytes: <b>${plain(f.value[1])}</b> ${given.unit}`,
      },
      xAxis: axis({ logBase: 2, min: low, max: high, name: "bytes in a request", nameLocation: "middle", nameGap: 24, bytes: true }),
      yAxis: axis({
        name: given.unit, nameGap: 8,
        min: 10 ** Math.floor(Math.log10(Math.min(...costs))), max: 10 ** Math.ceil(Math.log10(Math.max(...costs))),
      }),
      series: given.series.map((s, n) => ({
        name: `${s.name} (${s.platform})`, type: "line", data: s.points, symbolSize: 6, symbol: "circle",
        itemStyle: { color: css(s.colour) }, lineStyle: { width: 2, color: css(s.colour), type: s.dashed ? "dashed" : "solid" },
        emphasis: { focus: "series" },
        markLine: n || size < low || size > high ? undefined : {
          symbol: "none", silent: true, animation: false, label: { show: false }, lineStyle: { color: soft, type: "dashed" },
          data: [{ xAxis: size }],
        },
      })),
    }, true);
  }

  const tabs = [...document.querySelectorAll("[role=tab]")];
  function choose(tab, focus) {
    for (const each of tabs) {
      const on = each === tab;
      each.setAttribute("aria-selected", String(on));
      each.tabIndex = on ? 0 : -1;
      byId(each.getAttribute("aria-controls")).hidden = !on;
    }
    if (focus) tab.focus();
  }
  tabs.forEach((tab, n) => {
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (step) choose(tabs[(n + step + tabs.length) % tabs.length], true);
    });
  });
  if (tabs.length) choose(tabs[0], false);
  for (const select of Object.values(selects)) select.addEventListener("change", show);
  let pending = 0;
  addEventListener("resize", () => { clearTimeout(pending); pending = setTimeout(draw, 100); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const closed = [];
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details:not([open])").forEach((d) => { d.open = true; closed.push(d); });
    draw();
  });
  addEventListener("afterprint", () => { closed.splice(0).forEach((d) => { d.open = false; }); draw(); });
  show();
})();
