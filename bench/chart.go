package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// chart is a diagram of lines over a logarithmic axis, drawn as SVG. The same
// chart is always the same text. It brings its own background and colours for
// light and dark, and tells the lines apart by marks too, not by colour alone.
type chart struct {
	title, subtitle string
	xLabel, yLabel  string
	lines           []line
	limit           *limit // what is to be kept, if anything

	strings.Builder
}

type line struct {
	name   string
	points []point
}

// point is a figure for a size.
type point struct {
	x float64
	y spread
}

// limit is drawn across.
type limit struct {
	y    float64
	name string
}

// The sizes of a drawing, in its own units.
const (
	chartWidth, chartHeight               = 820, 420
	plotLeft, plotRight, plotTop, plotEnd = 76, 560, 70, 350
	// Lines are set apart by so much, or marks of the same value would hide
	// each other.
	beside = 5
)

// kinds of lines: a colour on a light and on a dark background, and a mark
// around 0.
var kinds = [...][3]string{
	{"#0072b2", "#56b4e9", "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z"},
	{"#c44e00", "#ff8c3f", "M-3.5,-3.5h7v7h-7z"},
	{"#00795a", "#2fc99b", "M0,-4.5l4.5,8h-9z"},
	{"#a8467f", "#e08dbd", "M0,-5l5,5l-5,5l-5,-5z"},
	{"#8a6d00", "#f0c23b", "M0,4.5l4.5,-8h-9z"},
	{"#5b4bb5", "#a99cf5", "M-4,-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z"},
	{"#444444", "#d0d0d0", "M-4.5,-2h9v4h-9z"},
}

const style = `text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px;font-weight:600}.small{font-size:11px;fill:#59636e}
.ground{fill:#fff}.grid{stroke:#d8dee4}.axis{stroke:#59636e;fill:none}.limit{stroke:#b00020;stroke-dasharray:6 4}.line{fill:none;stroke-width:1.8}
`

const darkStyle = `text{fill:#e6edf3}.small{fill:#9da7b3}.ground{fill:#0d1117}.grid{stroke:#30363d}.axis{stroke:#9da7b3}.limit{stroke:#ff7b8a}
`

// svg draws the chart.
func (c *chart) svg() string {
	c.Reset()
	var colours [2]strings.Builder // light, dark
	for i, k := range kinds {
		for j := range colours {
			fmt.Fprintf(&colours[j], ".l%d{stroke:%s}.m%d{fill:%s}\n", i, k[j], i, k[j])
		}
	}
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`,
		chartWidth, chartHeight, chartWidth, chartHeight, html.EscapeString(c.title))
	c.add("<style>\n%s%s@media (prefers-color-scheme:dark){\n%s%s}\n</style>", style, &colours[0], darkStyle, &colours[1])
	c.add(`<rect class="ground" width="%d" height="%d"/>`, chartWidth, chartHeight)
	c.text("title", plotLeft, 28, "start", c.title)
	c.text("small", plotLeft, 48, "start", c.subtitle)
	x, y := c.axes()
	for i := range c.lines {
		c.line(i, x, y)
	}
	c.legend(y)
	c.add("</svg>")
	return c.String()
}

func (c *chart) add(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

func (c *chart) text(class string, x, y float64, anchor, content string) {
	c.add(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(content))
}

// axes draws the axes and returns where values are on them. y begins at 0, so
// that heights compare as values do.
func (c *chart) axes() (x, y func(float64) float64) {
	least, most, top := math.Inf(1), 0.0, 0.0
	for _, l := range c.lines {
		for _, p := range l.points {
			least, most, top = min(least, p.x), max(most, p.x), max(top, p.y.Max)
		}
	}
	if most == 0 {
		least, most = 1, 10
	}
	if c.limit != nil {
		top = max(top, c.limit.y)
	}
	least, most = least/1.6, max(most, least*10)*1.6
	step := stepFor(top)
	top = step * max(1, math.Ceil(top*1.02/step))
	x = func(v float64) float64 { return plotLeft + (plotRight-plotLeft)*math.Log(v/least)/math.Log(most/least) }
	y = func(v float64) float64 { return plotEnd - (plotEnd-plotTop)*v/top }
	for v := 0.0; v <= top*1.0001; v += step {
		c.add(`<path class="grid" d="M%d,%.1fH%d"/>`, plotLeft, y(v), plotRight)
		c.text("", plotLeft-8, y(v)+4, "end", short(v))
	}
	for v := math.Pow(10, math.Ceil(math.Log10(least))); v <= most; v *= 10 {
		c.add(`<path class="grid" d="M%.1f,%dV%d"/>`, x(v), plotTop, plotEnd)
		c.text("", x(v), plotEnd+18, "middle", count(v))
	}
	c.add(`<path class="axis" d="M%d,%dV%dH%d"/>`, plotLeft, plotTop, plotEnd, plotRight)
	c.text("", (plotLeft+plotRight)/2, plotEnd+44, "middle", c.xLabel)
	c.add(`<g transform="translate(22 %d) rotate(-90)">`, (plotTop+plotEnd)/2)
	c.text("", 0, 0, "middle", c.yLabel)
	c.add("</g>")
	return x, y
}

// stepFor is the distance of marks on an axis from 0 to about top: 1, 2 or 5
// times a power of ten.
func stepFor(top float64) float64 {
	if top <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(top/5)))
	for _, times := range []float64{1, 2, 5} {
		if top/(unit*times) <= 6 {
			return unit * times
		}
	}
	return unit * 10
}

// line draws the i-th line: its path, and for each point the range of the
// rounds and a mark.
func (c *chart) line(i int, x, y func(float64) float64) {
	kind, shift := i%len(kinds), (float64(i)-float64(len(c.lines)-1)/2)*beside
	var path []string
	for _, p := range c.lines[i].points {
		px, py := x(p.x)+shift, y(p.y.Median)
		path = append(path, fmt.Sprintf("%.1f,%.1f", px, py))
		c.add(`<path class="range l%d" d="M%.1f,%.1fV%.1f"/>`, kind, px, y(p.y.Min), y(p.y.Max))
		c.add(`<path class="mark m%d" transform="translate(%.1f %.1f)" d="%s"><title>%s at %s: %s (%s to %s)</title></path>`, kind, px, py, kinds[kind][2],
			html.EscapeString(c.lines[i].name), count(p.x), short(p.y.Median), short(p.y.Min), short(p.y.Max))
	}
	if len(path) > 1 {
		c.add(`<path class="line l%d" d="M%s"/>`, kind, strings.Join(path, "L"))
	}
}

// legend names the lines and draws the limit.
func (c *chart) legend(y func(float64) float64) {
	at := plotTop + 14.0
	for i, l := range c.lines {
		kind := i % len(kinds)
		c.add(`<path class="line l%d" d="M%d,%.1fh24"/>`, kind, plotRight+16, at)
		c.add(`<path class="m%d" transform="translate(%d %.1f)" d="%s"/>`, kind, plotRight+28, at, kinds[kind][2])
		c.text("", plotRight+48, at+4, "start", l.name)
		at += 22
	}
	if c.limit != nil {
		c.add(`<path class="limit" d="M%d,%.1fH%dM%d,%.1fh24"/>`, plotLeft, y(c.limit.y), plotRight, plotRight+16, at)
		c.text("", plotRight+48, at+4, "start", c.limit.name)
	}
}

// short is a value with three digits, or all those before the point.
func short(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// count writes how many there are: 100, 10 thousand, 1 million.
func count(v float64) string {
	switch {
	case v >= 1e6:
		return short(v/1e6) + " million"
	case v >= 1e3:
		return short(v/1e3) + " thousand"
	}
	return short(v)
}
