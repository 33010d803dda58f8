// What somebody else has stored since the formgrader's page was loaded is not overwritten without a question.
(function () {
  "use strict";
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
