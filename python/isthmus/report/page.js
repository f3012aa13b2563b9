// Draws the figures. Colours come from page.css, so that light, dark and print follow the page.
"use strict";
(() => {
  const charts = [];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const plain = (v) => (v === 0 ? "0" : Number(v.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 9 }));
  const decade = (v) => plain(v);
  // "c3-2": the colour c3 in its second style, for figures with more than six series.
  const DASHES = ["solid", "dashed", "dotted"], SYMBOLS = ["circle", "rect", "triangle"];
  const hatch = (style, color) => (style === 0 ? {} : { decal: {
    color, symbol: style === 1 ? "rect" : "circle", symbolSize: style === 1 ? 1 : 0.6,
    ...(style === 1 ? { dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 } : { dashArrayX: [4, 4], dashArrayY: [4, 4] }),
  } });
  const bytes = (v) => (v < 1024 ? plain(v) : v < 1048576 ? `${plain(v / 1024)} Ki` : `${plain(v / 1048576)} Mi`);

  function styled(option, width) {
    const narrow = width < 480;
    const text = css("text"), soft = css("soft"), line = css("line"), page = css("page");
    const axis = (given, horizontal) => ({
      ...given,
      names: undefined,
      nameGap: horizontal ? 30 : given.type === "category" ? 0 : narrow ? 46 : 52,
      nameTextStyle: { color: soft, fontSize: 12 },
      axisLine: { show: true, onZero: false, lineStyle: { color: line } },
      axisTick: { lineStyle: { color: line } },
      minorTick: { show: given.type === "log" },
      splitLine: { show: given.type !== "category" && !given.names, lineStyle: { color: line, type: "dotted" } },
      axisLabel: {
        color: soft, fontSize: narrow ? 11 : 12, hideOverlap: true,
        ...(given.type === "category" ? { lineHeight: 14 }
          : given.names ? { lineHeight: 14, hideOverlap: false, formatter: (v) => given.names[v] ?? "" }
          : { formatter: given.bytes ? bytes : decade }),
      },
    });
    const series = option.series.map((s) => {
      const [name, style] = s.colour.split("-");
      const colour = css(name), again = (style ?? 1) - 1;
      return {
        ...s,
        ...(again && s.symbol === "circle" ? { symbol: SYMBOLS[again] } : {}),
        colour: undefined,
        itemStyle: { color: colour, borderColor: colour, ...(s.type === "bar" ? { borderColor: page, borderWidth: 1, ...hatch(again, page) } : {}) },
        lineStyle: { width: 2, type: DASHES[again], ...s.lineStyle, color: colour },
        emphasis: { focus: s.bar ? "none" : "series" },
        animation: false,
      };
    });
    const bars = option.series.some((s) => s.bar);
    const stacked = option.series[0] && option.series[0].type === "bar";
    const unit = bars || stacked ? option.xAxis.name : option.yAxis.name;
    return {
      animation: false,
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: text },
      grid: { left: bars || stacked ? 14 : narrow ? 60 : 66, right: 18, top: 12, bottom: 46, containLabel: bars || stacked },
      legend: { show: false },
      tooltip: {
        trigger: stacked ? "axis" : "item", confine: true, backgroundColor: page, borderColor: line,
        textStyle: { color: text, fontSize: 13 },
        axisPointer: { type: "shadow" },
        formatter: (found) => {
          if (bars) {
            const points = option.series[found.seriesIndex].data;
            return `${found.seriesName}<br>${plain(points[0][0])} to ${plain(points[1][0])} us ` +
              `(${plain(points[1][0] - points[0][0])} us)`;
          }
          if (Array.isArray(found)) {
            const head = found[0].name.replaceAll("\n", ", ");
            return [head, ...found.map((f) => `${f.marker}${f.seriesName}: ${plain(f.value)} us`)].join("<br>");
          }
          const across = (option.xAxis.bytes ? bytes : plain)(found.value[0]);
          return `${found.seriesName}<br>${option.xAxis.name}: ${across}<br>` +
            `${unit}: <b>${plain(found.value[1])}</b>`;
        },
      },
      xAxis: axis(option.xAxis, true),
      yAxis: axis(option.yAxis, false),
      series,
    };
  }

  function draw() {
    for (const { chart, option, element } of charts) {
      chart.resize();
      chart.setOption(styled(option, element.clientWidth), true);
    }
  }

  for (const figure of figures) {
    figure.panels.forEach((panel, number) => {
      const element = document.getElementById(`chart-${figure.id}-${number}`);
      charts.push({ chart: echarts.init(element, null, { renderer: "svg" }), option: panel.option, element });
    });
  }
  draw();
  let pending = 0;
  addEventListener("resize", () => { clearTimeout(pending); pending = setTimeout(draw, 100); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const closed = [];
  const printing = () => {
    document.querySelectorAll("details:not([open])").forEach((d) => { d.open = true; closed.push(d); });
    draw();
  };
  addEventListener("beforeprint", printing);
  addEventListener("afterprint", () => { closed.splice(0).forEach((d) => { d.open = false; }); draw(); });
  matchMedia("print").addEventListener("change", draw);
})();
