(function () {
  "use strict";
  var OFFERED = [/* offered */];
  var toolbars = [];

  function paragraphs(text) {
    return text.split(/\n[ \t]*\n/).map(function (part) { return part.trim(); }).filter(Boolean);
  }

  function field(kind, id) {
    return jQuery(kind).filter(function () { return this.id === id; })[0];
  }

  function refresh() {
    var ready = formgrader.grades && formgrader.grades.loaded && formgrader.comments.loaded;
    toolbars.forEach(function (toolbar) {
      var said = paragraphs(toolbar.comment.value);
      toolbar.buttons.forEach(function (button) {
        button.disabled = !ready;
        button.setAttribute("aria-pressed", String(said.indexOf(button.said) >= 0));
      });
    });
  }

  function toggle(toolbar, button, points) {
    var said = paragraphs(toolbar.comment.value), at = said.indexOf(button.said);
    if (at < 0) { said.push(button.said); } else { said.splice(at, 1); }
    toolbar.comment.value = said.join("\n\n");
    jQuery(toolbar.comment).trigger("change");
    autosize.update(toolbar.comment);
    if (points) {
      var sum = Number(toolbar.score.value) + (at < 0 ? points : -points);
      toolbar.score.value = Math.round(1000 * Math.min(Math.max(sum, 0), toolbar.max)) / 1000;
      jQuery(toolbar.score).trigger("change");
    }
    refresh();
  }

  function add(toolbar, heading, lines) {
    if (!lines.length) { return; }
    var title = document.createElement("span");
    title.textContent = heading;
    toolbar.place.appendChild(title);
    lines.forEach(function (line) {
      var button = document.createElement("button"), points = document.createElement("b");
      button.type = "button";
      button.said = line.text;
      button.disabled = true;
      points.textContent = line.points ? "+" + line.points : "";
      button.append(points, line.text);
      button.addEventListener("click", function () { toggle(toolbar, button, line.points); });
      button.tabIndex = -1;
      toolbar.place.appendChild(button);
      toolbar.buttons.push(button);
    });
  }

  // Tab comes to the first button, the arrows to the others; the formgrader has the Enter key for something else
  function keys(toolbar, event) {
    var at = toolbar.buttons.indexOf(document.activeElement);
    var step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) { return; }
    if (step) {
      toolbar.buttons[(at + step + toolbar.buttons.length) % toolbar.buttons.length].focus();
    } else if (event.key === "Enter" || event.key === " ") {
      toolbar.buttons[at].click();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  OFFERED.forEach(function (one) {
    var score = field("input.score", one.cell), comment = field("textarea.comment", one.cell + "-comment");
    if (!score || !comment || !(one.lines.length + one.before.length)) { return; }
    var place = document.createElement("div");
    var toolbar = { score: score, comment: comment, max: one.max, place: place, buttons: [] };
    place.className = "rubric tex2jax_ignore";
    place.setAttribute("role", "toolbar");
    place.setAttribute("aria-label", "Rubric of " + one.cell);
    add(toolbar, "Mark scheme: a click gives the points and writes the line into the comment, which the student reads", one.lines);
    add(toolbar, "Comments given before", one.before.map(function (text) { return { text: text, points: 0 }; }));
    toolbar.buttons[0].tabIndex = 0;
    toolbar.buttons[0].classList.add("tabbable");
    place.addEventListener("keydown", function (event) { keys(toolbar, event); });
    comment.addEventListener("input", refresh);
    comment.parentNode.appendChild(place);
    toolbars.push(toolbar);
  });
  jQuery(document).on("ajaxStop", refresh);

  // What somebody else has stored since this page was loaded is not overwritten without a question.
  function ask(Model, names) {
    var save = Model.prototype.save;
    function text(value) { return value === null || value === undefined ? "" : String(value); }
    function keep(model) { model.stored = _.pick(model.attributes, names); }
    function send(model, values, options, row) {
      var theirs = names.filter(function (name) {
        return name in values && text(row[name]) !== text(model.stored[name]) && text(row[name]) !== text(values[name]);
      });
      var question = "Somebody else has meanwhile stored " + theirs.map(function (name) {
        return name.replace(/_/g, " ") + ": " + (text(row[name]) || "nothing");
      }).join(", ") + ". Overwrite it? Cancel keeps it.";
      if (theirs.length && !window.confirm(question)) {
        model.set(row);
        keep(model);
        jQuery(document).trigger("finished_saving");
        return null;
      }
      return save.call(model, values, options);
    }
    Model.prototype.initialize = function () {
      keep(this);
      this.on("sync", function () { keep(this); }, this);
    };
    Model.prototype.save = function (values, options) {
      var model = this;
      model.set(values);
      model.waiting = Promise.resolve(model.waiting).then(function () {
        // JupyterHub answers a script's request only with this header
        return jQuery.ajax({ url: model.url(), dataType: "json", headers: { "X-CSRFToken": getCookie("_xsrf") } });
      }).then(function (row) { return send(model, values, options, row); }).catch(function (error) {
        window.alert("This was not stored, please try again: " + (error.statusText || error));
      });
    };
  }
  ask(Grade, ["manual_score", "extra_credit"]);
  ask(Comment, ["manual_comment"]);
}());
